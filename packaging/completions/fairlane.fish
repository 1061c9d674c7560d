# Completion of fairlane in fish: Fairlane itself says what a word may become.
complete --command fairlane --no-files --keep-order --arguments '(FAIRLANE_COMPLETE=fish fairlane -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token --cut-at-cursor) 2>/dev/null)'
