//! The statistics' sentences in German, by the names of their templates.

pub(super) static SENTENCES: &[(&str, &str)] = &[
    // Pairs.
    ("clauses", "{parts}"),
    ("lane_reason", "{lane}: {reason}"),
    ("shares_no_round", "{a} und {b} haben keine Runde gemeinsam, in der beide einen Messwert haben"),
    ("trials_behind", "{lane} ({count} von {of} Versuchen)"),
    ("cannot_sustain", "diese Rate hält nicht durch: {who}"),
    ("engine_was_measured", "gemessen wurde die Lastmaschine, nicht das Dateisystem"),
    ("device_was_measured", "gemessen wurde das Gerät, nicht das Dateisystem"),
    ("both_near_the_disk", "beide nahe an dem, was die Platte leistet"),
    ("cache_not_device", "der Seitencache antwortete, nicht das Gerät"),
    ("one_round", "eine Runde: kein Intervall zwischen Läufen"),
    ("missed_the_disk", "gemessen wurden Bytes, die nicht über die Platte gingen, nicht das Dateisystem darauf"),
    ("cache_took_not_device", "der Seitencache nahm die Daten auf, nicht das Gerät"),
    ("rounds_done_of", "{done} von {planned} Runden fertig"),
    ("rounds_done", "{done} Runden fertig, Urteile gibt es ab {first}"),
    ("difference_between", "nach {rounds} Runden liegt der Unterschied zwischen {low} % und {high} %"),
    (
        "correlated",
        "{a} gegenüber {b}: die Runden hängen zusammen (Verzögerung 1: {lag}), {rounds} Runden sind {worth} wert; das \
         Intervall wurde auf das {wider}-Fache verbreitert",
    ),
    ("stood_still", "{lane} stand in {count} von {of} Runden still"),
    ("nothing_to_compare", "{each}, und nichts ist keine Rate, die sich vergleichen ließe: {remedy}"),
    ("more_time", "der Arbeit mehr Zeit oder mehr Operationen geben"),
    ("longer_slices", "mit {option} längere Scheiben messen"),
    (
        "every_lane_stood_still",
        "alle standen in {count} von {of} Runden still: solche Runden sagen über keinen etwas und wurden weggelassen",
    ),
    (
        "stood_still_rate",
        "{lane} stand in {count} von {of} Runden still: im Mittel zählen sie als null, und es hat kein Intervall",
    ),
    (
        "stood_still_latency",
        "{lane} stand in {count} von {of} Runden still: sie haben keine Latenz, und das Mittel ist das der übrigen",
    ),
    ("failed_in_rounds", "{lane} scheiterte in {failed} von {of} Runden: {reason}"),
    ("void_trials", "{lane}: {count} von {of} Versuchen sind ungültig: {reason}"),
    ("one_filesystem", "{lanes}: was sie unterscheidet, liegt an keinem Dateisystem"),
    ("all_trials", "alle {count} Versuche"),
    ("some_trials", "{count} von {of} Versuchen"),
    ("marked_trials", "{count} von {of} Versuchen ({lanes})"),
    ("marked_trials_each", "{count} von {of} Versuchen ({each} jeder Bahn)"),
    ("marked_trials_of", "{lane} {count}"),
    ("for_one", " (in einem davon {figures})"),
    (
        "cannot_sustain_rate",
        "zurückgeblieben hinter der verlangten Rate{one}: {trials}; ihre Latenzen sind die einer wachsenden Warteschlange: verlangen Sie eine niedrigere Rate",
    ),
    (
        "harness_bound_submission",
        "Fairlane selbst kam zu spät{one}: {trials}; deren Latenzen sind zum Teil seine eigenen: verlangen Sie eine niedrigere Rate oder lassen Sie ihm mehr CPUs",
    ),
    ("foreign_noise", "von anderen Programmen gestört{one}: {trials}; messen Sie auf einer ruhigen Maschine"),
    (
        "neighbour_active",
        "währenddessen benutzten andere Bahnen noch die Platte{one}, was bremst: {trials}; messen Sie weniger Bahnen zugleich oder jede für sich",
    ),
    ("trials_unsteady", "am Ende änderte sich die Rate noch{one}: {trials}; geben Sie der Arbeit mehr Zeit"),
    (
        "cpu_throttled",
        "die CPUs wurden vor Hitze langsamer{one}, was alles Rechnen bremst: {trials}; kühlen Sie die Maschine oder lassen Sie sie vorher ruhen",
    ),
    ("suspended", "die Maschine schlief{one}: {trials}; halten Sie sie wach und messen Sie neu"),
    (
        "replay_differs",
        "andere Arbeit als die des Programms{one}: {trials}; seine Aufrufe wurden anders beantwortet, und solche Läufe \
         zählen nirgends",
    ),
    ("clock_source", "der Kernel wechselte seine Uhr{one}: {trials}; deren Zeiten ist nicht zu trauen: messen Sie neu"),
    ("clock_set", "jemand stellte die Uhrzeit{one}: {trials}; die Messwerte gelten"),
    (
        "guest_clock",
        "die Uhr des Gasts ging vor oder nach{one}: {trials}; deren Messwerte liegen um ebenso viel daneben: messen Sie auf einem Wirt mit freien CPUs",
    ),
    (
        "guest_clock_unchecked",
        "die Uhr des Gasts war nicht zu lesen{one}: {trials}; deren Messwerte gelten, wenn sie so schnell ging wie die des Wirts",
    ),
    (
        "image_unchecked",
        "ob die Images noch ganz beschrieben waren, ist auf dieser Platte nicht zu sehen{one}: {trials}; wer auf unbeschriebene Blöcke traf, wirkt langsamer, als er ist",
    ),
    (
        "image_unwritten",
        "die Images hatten wieder unbeschriebene Blöcke{one}: {trials}; wer auf sie traf, wirkt langsamer, als er ist; auf einem Gerät (--on /dev/… --erase /dev/…) gibt es keine",
    ),
    ("rebuilding", "neben der Arbeit wurde eine Platte wiederhergestellt{one}: {trials}"),
    (
        "warm_cache",
        "was als kalt gelesen wurde, kann aus dem Speicher gekommen sein, weil niemand den Cache unter einem Verzeichnis leert: {trials}; messen Sie Bahnen auf Images, als root oder mit --on qemu",
    ),
    (
        "warm_cache_of_host",
        "was als kalt gelesen wurde, kam aus dem Page-Cache des Wirts: {trials}; der Cache des Gasts ist leer, doch seine Platte liegt im Speicher des Wirts; messen Sie Lesen von der Platte auf dem Wirt",
    ),
    (
        "io_uring_again",
        "io_uring gab Operationen zurück, die dann einzeln ausgeführt wurden{one}: {trials}; die Messwerte gelten",
    ),
    ("note", "{text} ({trials})"),
    ("note_of_one", "{text}, zum Beispiel (so sagen {trials})"),
    (
        "race_disturbed",
        "{who} störten {count} von {of} Versuchen{most}: was sie nahmen, fehlte den Bahnen; messen Sie auf einer ruhigen Maschine",
    ),
    ("foreign_programs", "andere Programme"),
    ("the_hypervisor", "Eingriffe des Hypervisors"),
    ("both_disturbers", "andere Programme und der Hypervisor"),
    ("up_to_cpus", " (bis zu {share} der CPUs)"),
    ("figures_left_out", "{lane}: {count} von {of} Messwerten sind keine positiven Zahlen und wurden weggelassen"),
    ("figures_missing", "{lane}: {count} von {of} Versuchen enthalten kein {metric} für {group}"),
    (
        "warm_up_cut",
        "{lane}: bei {count} von {of} Versuchen wurde das Warmlaufen abgeschnitten, höchstens {share} eines Versuchs",
    ),
    ("scatter_too_much", "{rounds} Runden streuen zu sehr, um etwas zu sagen"),
    ("slices", "Abschnitte"),
    ("parts", "Teile"),
    (
        "stalls",
        "{lane} stockt in {count} von {of} Runden: das Mittel über die ganze Zeit liegt {percent} % unter dem Median der \
         {slices}; hier entscheiden die Mittel",
    ),
    (
        "bursts",
        "{lane} arbeitet in {count} von {of} Runden in Schüben: das Mittel über die ganze Zeit liegt {percent} % über dem \
         Median der {slices}; hier entscheiden die Mittel",
    ),
    ("took_longer_once", "in Runde {round} von {of} brauchte {lane} {seconds} länger, als die übrigen {slices} sagen"),
    ("took_less_once", "in Runde {round} von {of} brauchte {lane} {seconds} weniger, als die übrigen {slices} sagen"),
    (
        "stalls_in_steps",
        "{lane} stockt: das Mittel über die ganze Zeit liegt unter dem Median der {slices}; hier entscheiden die Mittel",
    ),
    (
        "bursts_in_steps",
        "{lane} arbeitet in Schüben: das Mittel über die ganze Zeit liegt über dem Median der {slices}; hier entscheiden \
         die Mittel",
    ),
    ("means_decide_all_of_it", "hier entscheiden Mittel über die ganze Zeit, wie im Rest dieser Arbeit"),
    ("not_steady", "{lane}: {count} von {of} Versuchen sind nicht stetig: {reason}"),
    (
        "not_direct",
        "{lane}: was mit O_DIRECT geschrieben wurde, ging durch den Seitencache; gemessen wurde gepufferte E/A",
    ),
    (
        "not_direct_with_checksums",
        "{lane}: was mit O_DIRECT geschrieben wurde, ging durch den Seitencache; gemessen wurde gepufferte E/A; \
         Btrfs tut das bei Dateien mit Prüfsummen der Daten seit Linux 6.15: daneben die Option nodatasum antreten lassen",
    ),
    (
        "not_direct_in_directory",
        "{lane}: was mit O_DIRECT geschrieben wurde, ging durch den Seitencache; gemessen wurde gepufferte E/A; \
         Btrfs tut das bei Dateien mit Prüfsummen der Daten seit Linux 6.15: daneben ein Verzeichnis mit chattr +C antreten \
         lassen",
    ),
    (
        "read_not_direct",
        "{lane}: {share} dessen, was mit O_DIRECT gelesen wurde, lag danach im Seitencache; gemessen wurde gepufferte E/A",
    ),
    (
        "read_not_direct_compressed",
        "{lane}: {share} dessen, was mit O_DIRECT gelesen wurde, lag danach im Seitencache; gemessen wurde gepufferte E/A; \
         die Dateien sind komprimiert",
    ),
    ("buffers_writes", "{lane} puffert diese direkten Schreibzugriffe"),
    ("buffers_reads", "{lane} puffert diese direkten Lesezugriffe"),
    (
        "not_compressed",
        "{lane} komprimiert und legte diese Dateien doch ab, wie sie sind, obwohl ihre Daten sich komprimieren lassen: Was es \
         komprimiert, wählt das Dateisystem; bei Btrfs versucht compress-force es mit allem",
    ),
    ("keeps_inline", "{lane} bewahrt diese Dateien in den Metadaten auf"),
    ("keeps_compressed", "{lane} bewahrt diese Dateien komprimiert auf"),
    ("keeps_in_tails", "{lane} bewahrt diese Dateien in gemeinsamen Blöcken auf"),
    ("parts_range", "die Teile streuen über {percent} % ihres Mittels"),
    ("rises", "von Anfang bis Ende steigt es um {percent} % seines Mittels"),
    ("falls", "von Anfang bis Ende fällt es um {percent} % seines Mittels"),
    ("still_changing", "in der zweiten Hälfte änderte es sich noch ({windows} Fenster)"),
    ("no_reason", "ohne Angabe eines Grundes"),
    // Who may be ranked.
    ("different_promises", "verschiedene Zusagen: {each}"),
    ("survives_a_crash", "{with} übersteht einen Absturz ohne vollständige Prüfung, {without} nicht"),
    ("hands_over_fsync", "{with} übergibt dem Gerät, was fsync sichert, als dauerhaft, {without} nicht"),
    ("flushes_its_writes", "{with} erzwingt mit Flushes, dass Geschriebenes ankommt, {without} nicht"),
    ("outlives_cache", "was {with} gesichert hat, überlebt die Cache-Platte, bei {without} womöglich nicht"),
    ("in_process_library", "{lane} ist eine Bibliothek im Prozess und wird ohne Systemaufruf gerufen"),
    ("in_another_place_one", "läuft an einem anderen Ort ({place})"),
    ("in_another_place_many", "laufen an einem anderen Ort ({place})"),
    ("order_unknown", "ein anderes Werkzeug hat {a} und {b} gemessen, und in welcher Reihenfolge, ist nicht bekannt"),
    (
        "beside_in_unknown_order",
        "wurde von einem anderen Werkzeug gemessen, und in welcher Reihenfolge, ist nicht bekannt",
    ),
    ("different_venue", "verschiedener Ort: {a} ist {a_is}, {b} ist {b_is}"),
    (
        "other_kernels",
        "verschiedene Kernel: {a} läuft auf Linux {a_on}, {b} auf Linux {b_on}, und es unterscheidet sich mehr als der \
         Kernel",
    ),
    ("kernel_differs", "der Kernel ist verschieden: {a} läuft auf Linux {a_on}, {b} auf Linux {b_on}"),
    ("other_guests", "verschiedene Gäste: {a} läuft in {a_is}, {b} in {b_is}"),
    ("different_disks", "verschiedene Platten: {a} liegt auf {a_on}, {b} auf {b_on}"),
    ("same_disk_elsewhere", "beide Verzeichnisse liegen auf {disk}, aber verschieden voll und an verschiedener Stelle"),
    (
        "servers_compared",
        "{a} und {b} liegen auf Servern: Platten, Server und Netz werden mit verglichen, und was dort einen Absturz \
         übersteht, ist nicht bekannt",
    ),
    (
        "servers_compared_sync",
        "{a} und {b} liegen auf Servern: Platten, Server und Netz werden mit verglichen; wer dieses Rennen begann, gab an, dass \
         beide Server Synchronisiertes erst bestätigen, wenn ihre Platten es haben (sync)",
    ),
    (
        "servers_compared_async",
        "{a} und {b} liegen auf Servern: Platten, Server und Netz werden mit verglichen; wer dieses Rennen begann, gab an, dass \
         beide Server Synchronisiertes bestätigen, bevor ihre Platten es haben (async): Ein Absturz eines Servers kann es kosten",
    ),
    (
        "servers_said",
        "wer dieses Rennen begann, gab an, dass der Server von {with} Synchronisiertes erst bestätigt, wenn seine Platte es hat \
         (sync), und der von {without} vorher (async): Was dort einen Absturz übersteht, ist verschieden",
    ),
    (
        "server_said_of_one",
        "wer dieses Rennen begann, gab an, wann der Server von {said} bestätigt, und von {other} nicht: Geben Sie es für beide \
         an, mit server=sync oder server=async hinter dem Verzeichnis",
    ),
    (
        "server_said_sync",
        "hat einen Server, der Synchronisiertes erst bestätigt, wenn seine Platte es hat (sync), so die Angabe zu Beginn des Rennens",
    ),
    (
        "server_said_async",
        "hat einen Server, der Synchronisiertes bestätigt, bevor seine Platte es hat (async), so die Angabe zu Beginn des Rennens",
    ),
    ("server_unsaid", "hat einen Server, von dem niemand angab, wann er Synchronisiertes bestätigt"),
    ("also_checksums", "{lane} bildet auch Prüfsummen der Daten"),
    (
        "stale_after_crash",
        "{lane}: mit {option} kann eine gewachsene Datei nach einem Absturz alte Inhalte der Platte haben",
    ),
    ("journals_data", "{lane}: mit {option} gehen auch die Daten durch das Journal und werden zweimal geschrieben"),
    (
        "commits_out_of_order",
        "{lane}: mit {option} wartet das Journal nicht auf seine Blöcke; nach einem Absturz sagt allein eine Prüfsumme, ob \
         sie angekommen sind",
    ),
    (
        "replaced_may_be_empty",
        "{lane}: mit {option} kann eine durch rename ersetzte, nicht synchronisierte Datei nach einem Absturz leer sein",
    ),
    (
        "allocates_at_once",
        "{lane}: mit {option} werden Blöcke beim Aufruf von write vergeben, und jeder Commit schreibt erst ihre Daten",
    ),
    (
        "synchronous_names",
        "{lane}: mit {option} sind Änderungen an Verzeichnissen auf der Platte, wenn der Aufruf zurückkehrt",
    ),
    ("synchronous_writes", "{lane}: mit {option} ist jeder Schreibvorgang auf der Platte, wenn der Aufruf zurückkehrt"),
    ("commits_all_data", "{lane}: mit {option} schreibt jeder Commit erst alle Daten"),
    (
        "keeps_order",
        "{lane}: mit {option} erreichen Daten die Platte in der Reihenfolge, in der sie geschrieben wurden",
    ),
    ("commits_all_at_fsync", "{lane}: mit {option} schreibt fsync mehr fest als die verlangte Datei"),
    ("older_state", "{lane}: mit {option} kann ein älterer Stand eingehängt werden"),
    (
        "overwrites_in_place",
        "{lane}: mit {option} werden Daten an Ort und Stelle überschrieben und haben keine Prüfsummen",
    ),
    ("no_metadata_checksums", "{lane}: seine Metadaten haben keine Prüfsummen"),
    ("metadata_once", "{lane}: seine Metadaten liegen einmal vor, nicht zweimal"),
    ("lazy_timestamps", "{lane}: mit {option} kann ein Absturz bis zu einen Tag an Zeitstempeln zurücknehmen"),
    (
        "commits_every",
        "{lane}: mit {option} kann ein Absturz verlieren, was in den letzten {seconds} s geschrieben und nicht \
         synchronisiert wurde (üblich sind {usual} s)",
    ),
    ("promises_lacking_one", "verspricht {names}"),
    ("promises_lacking_many", "versprechen {names}"),
    ("promises_beyond_one", "verspricht zusätzlich {names}"),
    ("promises_beyond_many", "versprechen zusätzlich {names}"),
    ("no_safe_metadata", "keine absturzfesten Metadaten"),
    ("no_stable_fsync", "kein fsync, das dauerhaften Speicher erreicht"),
    ("no_write_barriers", "keine Schreibbarrieren"),
    ("no_fsync_beyond_cache", "kein fsync, das den Verlust der Platte eines Caches übersteht"),
    ("safe_metadata", "absturzfeste Metadaten"),
    ("stable_fsync", "ein fsync, das dauerhaften Speicher erreicht"),
    ("write_barriers", "Schreibbarrieren"),
    ("fsync_beyond_cache", "ein fsync, das den Verlust der Platte eines Caches übersteht"),
    ("is_library", "ist eine Bibliothek im Prozess und wird ohne Systemaufruf gerufen"),
    ("are_libraries", "sind Bibliotheken im Prozess und werden ohne Systemaufruf gerufen"),
    ("is_called_by_the_kernel", "wird über Systemaufrufe gerufen, anders als eine Bibliothek im Prozess"),
    ("are_called_by_the_kernel", "werden über Systemaufrufe gerufen, anders als eine Bibliothek im Prozess"),
    ("on_another_kernel", "läuft auf einem anderen Kernel (Linux {kernel}), und mehr als der unterscheidet sich"),
    ("in_another_guest", "läuft in einem anderen Gast ({guest})"),
    ("flushes_stop_short", "verschiedene Flushes: keiner von {stops} erreicht eine Platte, die von {reaches} schon"),
    (
        "code_only",
        "dieses Rennen vergleicht den Code der Dateisysteme, nicht Ihre Platte: User-Mode-Linux hält seine Platten im \
         Seitencache des Wirts",
    ),
    ("code_only_of", "{lanes} lebt in User-Mode-Linux, das den Code der Dateisysteme vergleicht, nicht Ihre Platte"),
    (
        "not_durable",
        "nicht dauerhaft: User-Mode-Linux reicht keinen Flush an die Platte weiter, bei {lanes} wurde also nichts \
         dauerhaft; mit --guest-sync, --on qemu oder auf dem Wirt schon",
    ),
    ("elsewhere", "liegt auf anderem Grund ({place})"),
    // The race.
    (
        "as_published_once",
        "wie veröffentlicht: die Methode des Artikels, einmal ausgeführt; eine Runde zeigt keine Schwankung und gibt \
         kein Urteil, dafür ohne --as-published antreten lassen",
    ),
    ("as_published_often", "wie veröffentlicht: die Methode des Artikels, öfter ausgeführt als im Artikel"),
    ("taken_up_once", "das Rennen wurde unterbrochen und einmal wieder aufgenommen"),
    ("taken_up_often", "das Rennen wurde unterbrochen und {times}-mal wieder aufgenommen"),
    (
        "clocks_apart",
        "die Uhren der Knoten ({compared} von {nodes}) gingen vor dem Rennen um höchstens {apart} auseinander und drifteten von seinem \
         Anfang bis zu seinem Ende, {time}, um höchstens {drift}: keine Zahl beruht darauf, dass sie übereinstimmen",
    ),
    (
        "nodes_let_go",
        "die Knoten wurden höchstens {apart} auseinander losgelassen (angesehene Fenster: {windows}), was als ein Augenblick gilt",
    ),
    ("no_time_for", "{work} kam nicht mehr an die Reihe: eine Runde davon dauert etwa {round}, und die Zeit war um"),
    ("not_raced_for_time", "{work} kam nicht mehr an die Reihe: die Zeit war um"),
    ("not_raced_at_all", "{work} kam nicht mehr an die Reihe: das Rennen endete vorher"),
    ("never_reached", "{work} (nie erreicht)"),
    (
        "lane_broke_a_promise",
        "{lane} brach in {broken} von {cuts} simulierten Stromausfällen ein Versprechen (fairlane powercut vom {when}): \
         das ist der Preis der Geschwindigkeit",
    ),
    (
        "lane_did_not_mount",
        "{lane} ließ sich nach {count} von {cuts} simulierten Stromausfällen ohne fsync der Verzeichnisse nicht mehr \
         einhängen (fairlane powercut vom {when})",
    ),
    ("most_cuts_of_runs", "{when}, von {runs} Läufen mit diesem Befund der mit den meisten Ausfällen"),
    ("most_files_of_runs", "{when}, von {runs} Läufen mit diesem Befund der mit den meisten Dateien"),
    (
        "lane_broke_a_promise_torn",
        "{lane} brach in {broken} von {cuts} simulierten Stromausfällen ein Versprechen (fairlane powercut vom {when}), \
         jedes Mal riss dabei ein Schreibvorgang zwischen Sektoren von 512 Byte",
    ),
    (
        "lane_read_damage",
        "{lane} verspricht Prüfsummen der Daten und gab {files} beschädigte Dateien ohne Fehler an einen Leser (fairlane \
         integrity vom {when})",
    ),
    ("histograms_unreadable", "{lane}: {count} Latenzhistogramme sind nicht lesbar und wurden weggelassen"),
    (
        "quota_of_streams",
        "wahrscheinlich ein Kontingent: sequenzielles Lesen und Schreiben enden beide bei {cap} und schwanken um weniger \
         als 1 %",
    ),
    (
        "quota_of_requests",
        "wahrscheinlich ein Kontingent: wahlfreies Lesen und Schreiben enden beide bei {cap} und schwanken um weniger als \
         1 %",
    ),
    (
        "on_different_disks",
        "die Bahnen stehen während der Messung auf verschiedenen Platten: {each}; ein Unterschied kann der der Platten \
         sein",
    ),
    (
        "settings_differ",
        "{work}: die Datenbanken nennen in verschiedenen Bahnen verschiedene Einstellungen ({each}); was ihre Commits \
         kosten, ist nicht vergleichbar",
    ),
    ("shared_rate_disturbed", "die gemeinsame Rate wurde in einem gestörten Augenblick gemessen: {why}"),
    ("no_round_completed", "das Rennen kam nicht so weit"),
    ("not_come_to_yet", "das Rennen ist noch nicht so weit"),
    ("not_in_its_files", "seine Dateien enthalten keinen Messwert davon"),
    ("stood_still_always", "stand in jeder Runde still"),
    ("no_trial_measured", "kein Versuch hat gemessen: {metric}"),
    ("no_time_of_step", "keine Runde enthält eine Zeit für {step}"),
    (
        "hardly_emulated",
        "unter {steps} s lang, und die Drosselung lässt auf einmal durch, was die Platte in {burst} s schafft: die \
         nachgebildete Platte zeigt sich darin kaum",
    ),
    (
        "beyond_memory",
        "{lane}: {rate} ist mehr, als dieser Rechner bei der Messung im Arbeitsspeicher kopierte ({memory}): kaum alle \
         diese Bytes wurden angefasst",
    ),
    ("beyond_the_disk", "{lane}: {rate} ist mehr, als die bloße Platte schafft ({disk}){why}"),
    ("all_lanes", "alle {count} Bahnen"),
    ("lanes_beyond_the_disk", "{lanes}: {low} bis {high} sind mehr, als die bloße Platte schafft ({disk}){why}"),
    ("it_compresses", ": das Dateisystem komprimiert, und {share} der Bytes gingen über die Platte"),
    ("cache_did_the_rest", ": den Rest tat der Seitencache, {share} der Bytes gingen über die Platte"),
    (
        "hardly_a_byte",
        ": kaum ein Byte ging über die Platte, obwohl O_DIRECT verlangt war; Löcher und ungeschriebene Bereiche werden \
         ohne sie beantwortet",
    ),
    (
        "rest_were_holes",
        ": {share} der Bytes gingen über die Platte, obwohl O_DIRECT verlangt war; der Rest waren Löcher, ungeschriebene \
         Bereiche oder ein Cache",
    ),
    (
        "all_bytes_passed",
        ", und alle Bytes gingen über sie: die Obergrenze wurde in einem langsamen Augenblick gemessen, oder die Platte \
         hat einen eigenen Cache",
    ),
    (
        "library_without_processes",
        "{lane} ist auch hier eine Bibliothek im Prozess: in ihren Zeilen startete kein Prozess, während jede Operation \
         einer eingehängten Bahn einer war",
    ),
    (
        "libraries_without_processes",
        "{lanes} sind auch hier Bibliotheken im Prozess: in ihren Zeilen startete kein Prozess, während jede Operation \
         einer eingehängten Bahn einer war",
    ),
    (
        "correlated_comparisons",
        "in {count} von {of} Vergleichen von Bahnen hängen die Runden zusammen; deren Intervalle wurden verbreitert",
    ),
    // Advice.
    ("of_part", "{part}: {reason}"),
    ("rounds_failed", "{failed} von {of} Runden scheiterten: {reason}"),
    ("too_few_rounds", "weniger als {count} Runden haben einen Messwert"),
    ("compared_without", "verglichen ohne {parts}, was für diese Bahn als nicht gemessen zählt: {why}"),
    // Tables of file operations.
    ("steps_and_warning", "{steps}: {warning}"),
    ("and_more_steps", "{steps} und {count} weitere Schritte"),
    // Swarms of writers.
    (
        "bursts_rise",
        "{lane} schreibt alle {seconds} in Schüben von {bytes}; die p99-Verspätung steigt von {between} auf {within}",
    ),
    ("bursts_hidden", "{lane} schreibt alle {seconds} in Schüben von {bytes}, die sich in der Verspätung nicht zeigen"),
    (
        "lone_bursts_rise",
        "{lane} schreibt in Schüben von {bytes}; die p99-Verspätung steigt von {between} auf {within}",
    ),
    ("lone_bursts_hidden", "{lane} schreibt in Schüben von {bytes}, die sich in der Verspätung nicht zeigen"),
    ("too_late", "mit {writers} Schreibern beträgt die p99-Verspätung {lateness}, bei einer Periode von {period}"),
    ("backlog_grows", "mit {writers} Schreibern wächst der Rückstand, am Ende auf {backlog}"),
    ("load_too_high", "mit {writers} Schreibern strebt die mittlere Last gegen {load}, auf {cpus} CPUs"),
    (
        "load_unknown",
        "mit {writers} Schreibern: die mittlere Last ist nicht bekannt, weil niemand eine halbe Minute lang hinsah",
    ),
    (
        "harness_late",
        "mit {writers} Schreibern beträgt die p99-Verspätung {lateness}, wovon {own} Fairlane und der Scheduler verursachen",
    ),
    (
        "harness_falls_too",
        "{writers} Schreiber werden auch ohne Dateisystem nicht getragen: Fairlane und der Scheduler gaben nach",
    ),
    ("harness_flagged", "mit {writers} Schreibern wurden Fairlane und der Scheduler gemessen"),
    (
        "harness_measured",
        "mit den Schreibern, bei denen {lanes} endete, wurden Fairlane und der Scheduler gemessen, nicht das Dateisystem",
    ),
    ("fewer_but_open", "{lane} hat die kleinere Zahl und trägt vielleicht mehr"),
    ("fewer_but_open_because", "{lane} hat die kleinere Zahl und trägt vielleicht mehr: {reason}"),
    ("could_not_be_done", "mit {writers} Schreibern: {reason}"),
    ("all_sustained", "{writers} Schreiber werden getragen, und mehr wurden nicht versucht"),
    ("not_even", "nicht einmal {writers} Schreiber werden getragen"),
    ("no_pass_ended", "kein Durchgang der Suche ging zu Ende"),
    ("more_not_tried", "mehr Schreiber, als {lanes} trägt, wurden nicht versucht: das Verhältnis kann größer sein"),
    ("both_at_the_end", "beide tragen {writers} Schreiber, und mehr wurden nicht versucht; --most-writers erhöhen"),
    ("neither_gave_way", "weder {a} noch {b} gab nach, bevor mehr Schreiber nicht mehr versucht werden konnten"),
    ("passes_done_of", "{done} von {planned} Durchgängen fertig"),
    ("one_pass", "ein Durchgang: kein Intervall zwischen Durchgängen"),
    // What the disk is, and what was raced on.
    (
        "disk_is_memory",
        "diese Platte ist Arbeitsspeicher: {device} hält ihre Blöcke im Speicher dieser Maschine, also ist hier keine Zahl \
         die einer Platte",
    ),
    (
        "disk_is_page_cache",
        "diese Platte antwortet aus dem Seitencache dieser Maschine: {device} ist ein Loop-Gerät ohne direkten Zugriff, also \
         ist hier keine Zahl die einer Platte",
    ),
    (
        "disk_is_a_cache",
        "diese Platte antwortet aus einem Cache: {list}; was Schreibvorgänge hier zeigen, ist dieser Cache",
    ),
    (
        "disk_is_a_cache_or_an_allowance",
        "diese Platte antwortet aus einem Cache, oder jemand gewährt ihr anfangs mehr: {list}; kurze Schreibvorgänge zeigen \
         das",
    ),
    ("disk_flush_lowers", "sie nahm Schreibvorgänge mit {write} an, den Flush danach mitgezählt mit {flushed}"),
    ("disk_writes_above_reads", "sie schrieb mit {write}, den Flush eingeschlossen, und las dasselbe mit {read}"),
    ("disk_writes_fall", "ihre Schreibrate fiel von {first} auf {last} binnen {seconds}"),
    (
        "loop_is_not_the_disk",
        "mkfs und das Dateisystem sehen ein Loop-Gerät und nicht {disk}: {list}; ein Rennen auf dem Gerät selbst (--on \
         /dev/… --erase /dev/…) zeigt, was das ändert",
    ),
    ("no_such_size", "keiner"),
    ("logical_blocks_differ", "logische Blöcke von {here}, bei der Platte {there}"),
    ("physical_blocks_differ", "physische Blöcke von {here}, bei der Platte {there}"),
    ("minimum_io_differs", "kleinste gute Anfrage: {here}, bei der Platte {there}"),
    ("optimal_io_differs", "beste Größe einer Anfrage: {here}, bei der Platte {there}"),
    (
        "loop_has_a_write_cache",
        "ein Schreibcache, wo die Platte keinen hat, der einen Flush braucht: jeder Flush kostet hier, was er dort nicht \
         kosten würde",
    ),
    ("loop_has_no_write_cache", "kein Schreibcache, wo die Platte einen hat: es wird kein Flush gesandt"),
    ("loop_has_fua", "einzelne dauerhafte Schreibvorgänge (FUA), die die Platte nicht hat"),
    ("loop_has_no_fua", "keine einzelnen dauerhaften Schreibvorgänge (FUA), die die Platte hat: jedem folgt ein Flush"),
    ("loop_discards", "es nimmt Discards an, die Platte nicht"),
    ("loop_does_not_discard", "es nimmt keine Discards an, die Platte schon"),
    ("loop_spins", "es gilt als drehend, die Platte nicht"),
    ("loop_does_not_spin", "es gilt nicht als drehend, die Platte schon"),
    ("raced_there", "gemessen {places}"),
    ("on_fresh_filesystems_of", "auf frischen Dateisystemen von {size}"),
    ("on_filesystems_with_a_past_of", "auf Dateisystemen von {size} mit einer Vergangenheit"),
    ("on_filesystems_with_a_past_of_in", "auf Dateisystemen von {size} mit einer Vergangenheit in {guest}"),
    ("on_fresh_filesystems_of_in", "auf frischen Dateisystemen von {size} in {guest}"),
    ("on_fresh_filesystems_on", "auf frischen Dateisystemen auf {device}"),
    ("in_a_directory_as_it_is", "in {path}, wie es ist"),
    ("in_directories_as_they_are", "in Verzeichnissen, wie sie sind"),
    ("in_memory_alone", "im Arbeitsspeicher"),
];
