//! What the statistics say of where the time went, and of the machine, in German and Chinese, by the names of their templates.

pub(super) static GERMAN: &[(&str, &str)] = &[
    ("cause_of_difference", "{share} {cause}"),
    ("cause_of_saving", "abzüglich {share} {cause}"),
    ("difference", "je Operation {fast_time} in {fast}, {slow_time} in {slow}; von {more} mehr: {causes}"),
    ("not_explained_in", "in {lanes} nicht erklärt: {why}"),
    ("nothing_explained", "nichts wird erklärt: {reason}"),
    ("work_not_explained", "{work} wird nicht erklärt: {reason}"),
    ("partly_explained", "{work} wird nicht ganz erklärt: {reason}"),
    ("no_passes", "es war kein Durchgang verlangt: ein Rennen mit --explain sagt, was Zähler nicht sagen können"),
    ("no_time_for_passes", "für Durchgänge war keine Zeit: mit --explain werden sie in jedem Fall gemacht"),
    (
        "no_time_for_passes_of",
        "für einen Durchgang von {works} war keine Zeit: mit --explain wird er in jedem Fall gemacht",
    ),
    ("ended_before_passes", "das Rennen endete vor seinen Durchgängen: --resume macht sie"),
    ("ended_before_passes_of", "das Rennen endete vor einem Durchgang von {works}: --resume macht, was fehlt"),
    ("passes_saw_nothing", "der Durchgang von {works} ließ sich nicht machen; seine Runden sind trotzdem gefahren"),
    ("guests_unseen", "kein Durchgang sieht Bahnen in Gästen: deren Kernel ist nicht der dieser Maschine"),
    (
        "programs_unseen",
        "kein Durchgang sieht {works}: die Programme sind zu Ende, bevor bekannt ist, wem sie gehörten",
    ),
    ("done_by_programs", "Programme tun die Arbeit, und die Zähler der Runden sagen nicht, worauf diese warten"),
    ("waits_by_itself", "die Arbeit wartet von selbst, und die Zähler der Runden sagen nicht, worauf sonst"),
    ("nothing_done", "keine Operation davon wurde gezählt"),
    ("too_short_for_counters", "seine Runden maßen zusammen weniger als {least}, und das ist zu kurz für Zähler"),
    // Of the machine.
    (
        "virtual_machine",
        "dies ist eine virtuelle Maschine: ihre Platte kann geteilt, vom Wirt gepuffert oder begrenzt sein",
    ),
    (
        "other_defaults",
        "mkfs wählt auf großen Platten andere Vorgaben als auf Bahnen von {size}: Journal, Log, Größe der Chunks",
    ),
];

pub(super) static CHINESE: &[(&str, &str)] = &[
    ("cause_of_difference", "{share} {cause}"),
    ("cause_of_saving", "减去 {share} {cause}"),
    ("difference", "此处一次操作在 {fast} 上用 {fast_time}，在 {slow} 上用 {slow_time}；多出的 {more} 中：{causes}"),
    ("not_explained_in", "在 {lanes} 上未作解释：{why}"),
    ("nothing_explained", "什么都没有解释：{reason}"),
    ("work_not_explained", "{work} 未作解释：{reason}"),
    ("partly_explained", "{work} 没有全部解释：{reason}"),
    ("no_passes", "没有要求观察：用 --explain 比试，可说明计数器说不清的"),
    ("no_time_for_passes", "时间不够观察：加 --explain 则一定会做"),
    ("no_time_for_passes_of", "时间不够观察 {works}：加 --explain 则一定会做"),
    ("ended_before_passes", "比试在观察之前就结束了：--resume 会补做"),
    ("ended_before_passes_of", "比试在观察 {works} 之前就结束了：--resume 会补做所缺的"),
    ("passes_saw_nothing", "{works} 的观察没能做成；它的各轮照样比过"),
    ("guests_unseen", "虚拟机里的赛道无法观察：它们的内核不是本机的"),
    ("programs_unseen", "{works} 无法观察：还没弄清程序属于谁，它们就结束了"),
    ("done_by_programs", "活由程序来做，各轮的计数器说不清它们在等什么"),
    ("waits_by_itself", "这项工作自己会等待，各轮的计数器说不清此外还等什么"),
    ("nothing_done", "没有计到它的任何操作"),
    ("too_short_for_counters", "它的各轮合计测量不足 {least}，对计数器来说太短"),
    // Of the machine.
    ("virtual_machine", "这是虚拟机：其磁盘可能是共享的、经宿主机缓存的或限速的"),
    ("other_defaults", "mkfs 在大磁盘上选用的默认值与在 {size} 的赛道上不同：日志、log、chunk 大小"),
];
