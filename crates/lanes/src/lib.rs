//! A lane's life: specification, formatted, mounted, cold or warm, gone.
