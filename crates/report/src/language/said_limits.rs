//! What limited a result, in German and Chinese, by the names of the templates.

pub(super) static GERMAN: &[(&str, &str)] = &[
    ("every_lane", "jede Bahn"),
    ("lane_and_figure", "{lane} {figure}"),
    ("from_to", "{low} bis {high}"),
    (
        "operations_done_again",
        "io_uring gab {share} der Operationen von {lane} zurück, und sie wurden einzeln ausgeführt (1 % ist \
         zulässig): gemessen wurde die Lastmaschine; besser ist ioengine = \"libaio\"",
    ),
    (
        "engine_was_late",
        "in {late} von {trials} Versuchen von {lane} gab die Lastmaschine Operationen später ab, als sie sollte: \
         gemessen wurde die Lastmaschine",
    ),
    (
        "engine_near_its_own_limit",
        "{lane} erreicht {share} der {null} Operationen/s, die die Lastmaschine ohne Gerät schafft: gemessen wurde die \
         Lastmaschine",
    ),
    (
        "engine_fills_windows",
        "die eigene Rechenzeit der Lastmaschine füllt {share} der Messfenster von {lane}: gemessen wurde die \
         Lastmaschine",
    ),
    (
        "engine_fills_windows_of_workers",
        "die eigene Rechenzeit der Lastmaschine füllt {share} von {workers} Arbeitern in den Messfenstern von {lane}: \
         gemessen wurde die Lastmaschine",
    ),
    ("cache_answered", "bei {lane} kamen nur {share} der gelesenen Bytes vom Gerät: der Seitencache antwortete"),
    (
        "cache_took",
        "bei {lane} kamen während der Messung nur {share} der geschriebenen Bytes zum Gerät, und der Messwert enthält kein \
         Sync: der Seitencache nahm sie auf",
    ),
    (
        "at_the_ceiling",
        "{who} erreicht {share} von {ceiling}: dieser Test kann diese Dateisysteme nicht unterscheiden{by_cpu}",
    ),
    (
        "at_an_unsteady_ceiling",
        "{who} erreicht {share} von {ceiling}; diese Obergrenze ist nicht beständig (drei Viertel ihrer Proben liegen bei \
         {probes}), und {queue} der {depth} verlangten Anfragen warten am Gerät: die Platte gab das Tempo vor, und nur \
         ein Unterschied, den die Runden Paar für Paar zeigen, unterscheidet diese Dateisysteme{by_cpu}",
    ),
    ("by_cpu", "; nach CPU-Zeit je Operation: {list}"),
    ("emulated_disk", "dem, was die nachgebildete Platte zulässt ({limits})"),
    ("bare_device", "dem, was das bloße Gerät leistet ({figure})"),
    ("throttle_itself", "dem, was die Drosselung zulässt ({limits})"),
    ("its_bare_figure", "dem, was es ohne Dateisystem leistet ({figure})"),
    ("own_disks", "dem, was die Platte jeder Bahn leistet ({disks})"),
    ("lane_on_bare_device", "{lane} auf dem bloßen Gerät mit {figure}"),
    ("lane_not_limited", "{lane} ohne Grenze"),
    ("lane_on_disks", "{lane} auf {disks} Platten mit je {limits}"),
    ("at_own_disk", "jede Bahn erreicht {share} dessen, was ihre eigene Platte leistet ({disks}): {what}"),
    (
        "at_own_emulated_disk",
        "jede Bahn erreicht {share} dessen, was ihre eigene nachgebildete Platte zulässt ({disks}): {what}",
    ),
    ("difference_of_disks", "der Unterschied ist der der Platten"),
    (
        "difference_of_layouts",
        "der Unterschied liegt an den Platten und daran, wie die Bahnen ihre Arbeit darauf verteilen: Streifen, Kopien und \
         Größe der Anfragen",
    ),
    (
        "difference_of_disks_and_writes",
        "der Unterschied ist der der Platten und dessen, was die Bahnen je Byte der Anwendung darauf schreiben ({list})",
    ),
    ("flushes_per_second", "{rate} Flushes/s"),
    (
        "writes_differ",
        "jede Bahn erreicht {share} von {ceiling}, aber je Byte der Anwendung schreiben sie verschieden viel darauf \
         ({list})",
    ),
    (
        "makes_flushes",
        "{who} macht {share} der Flushes, die das bloße Gerät nach je einem Schreiben schafft ({bare}; Bahnen: {list} \
         Flushes/s)",
    ),
    (
        "make_flushes",
        "{who} machen {share} der Flushes, die das bloße Gerät nach je einem Schreiben schafft ({bare}; Bahnen: {list} \
         Flushes/s)",
    ),
    (
        "flushes_like_the_device",
        "{who} macht etwa so viele Flushes wie das bloße Gerät nach je einem Schreiben ({bare}; Bahnen: {list} Flushes/s)",
    ),
    (
        "flush_like_the_device",
        "{who} machen etwa so viele Flushes wie das bloße Gerät nach je einem Schreiben ({bare}; Bahnen: {list} Flushes/s)",
    ),
    ("spends_time_in_flushes", "{who} verbringt {share} der Zeit in Flushes ({list} Flushes/s)"),
    ("spend_time_in_flushes", "{who} verbringen {share} der Zeit in Flushes ({list} Flushes/s)"),
    ("trials_of_lane", "{count} von {of} Versuchen von {lane}"),
    (
        "other_programs",
        "in {each} waren andere Programme am Werk; was begrenzte, lässt sich daher nicht sagen ({example})",
    ),
    ("a_thread", "ein Thread"),
    ("thread_fills_core", "bei {lane} füllt {thread} {share} eines Kerns"),
    ("lane_fills_cpus", "{lane} füllt {share} aller CPUs"),
    ("with_spare_device", "{what}, während das Gerät zu {share} genutzt wird"),
    ("keeps_requests", "{who} hält {range} der verlangten {depth} Anfragen am Gerät"),
    ("keep_requests", "{who} halten {range} der verlangten {depth} Anfragen am Gerät"),
    ("no_lane_has_a_figure", "keine Bahn hat einen Messwert"),
    ("measured_elsewhere", "ein anderes Werkzeug hat es gemessen, und was es begrenzt hat, ist nicht bekannt"),
    (
        "shared_rate",
        "beim {share}-Fachen dessen, was die langsamste Bahn ({slowest}) schafft: {rate} Operationen/s für jede Bahn; \
         die Arbeit ist getaktet, diese Rate zu erreichen zeigt also keine Grenze",
    ),
    ("paced", "die Arbeit ist getaktet, ihre Rate zu erreichen zeigt also keine Grenze"),
    (
        "several_kinds",
        "Arbeit mehrerer Arten läuft zugleich, und für eine solche Mischung ist vom bloßen Gerät keine Obergrenze bekannt",
    ),
    (
        "beyond_the_ceiling",
        "{share} von {ceiling}, erreicht von {who}, ist unmöglich: diese Grenze wurde in einem langsamen Augenblick \
         gemessen, oder die Platte antwortet aus einem eigenen Cache; wie nahe jemand der Grenze der Platte kam, ist nicht \
         bekannt",
    ),
    ("no_single_cause", "keine einzelne Ursache sticht heraus; das Gerät wird genutzt zu {share} von {ceiling}"),
    (
        "no_ceiling_known",
        "keine einzelne Ursache sticht heraus, und für diese Arbeit ist vom bloßen Gerät keine Obergrenze bekannt",
    ),
];

pub(super) static CHINESE: &[(&str, &str)] = &[
    ("every_lane", "每条赛道"),
    ("lane_and_figure", "{lane} {figure}"),
    ("from_to", "{low} 到 {high}"),
    (
        "operations_done_again",
        "io_uring 退回了 {lane} 的 {share} 的操作，这些操作被逐个执行（容许 1 %）：测到的是负载引擎；请使用 ioengine = \"libaio\"",
    ),
    (
        "engine_was_late",
        "{lane} 的 {trials} 次试验中有 {late} 次，负载引擎提交操作的时间晚于应有的时间：测到的是负载引擎",
    ),
    ("engine_near_its_own_limit", "{lane} 达到负载引擎在没有设备时每秒 {null} 次操作的 {share}：测到的是负载引擎"),
    ("engine_fills_windows", "负载引擎自身的用户态时间占 {lane} 测量窗口的 {share}：测到的是负载引擎"),
    (
        "engine_fills_windows_of_workers",
        "在 {lane} 的测量窗口中，负载引擎自身的用户态时间占 {workers} 个工作线程的 {share}：测到的是负载引擎",
    ),
    ("cache_answered", "{lane} 读取的字节中只有 {share} 来自设备：数据由页缓存返回"),
    ("cache_took", "测量期间 {lane} 写入的字节中只有 {share} 到达设备，而且数值中不包含任何同步：数据由页缓存接收"),
    ("at_the_ceiling", "{who}达到{ceiling}的 {share}：这项测试分不出这些文件系统的高下{by_cpu}"),
    (
        "at_an_unsteady_ceiling",
        "{who}达到{ceiling}的 {share}，而这个上限并不稳定（四分之三的探测在{probes}之间），所要求的 {depth} 个请求中有 {queue} 个在设备上等待：速度由磁盘决定，只有逐对的轮次所显示的差异才能分出这些文件系统的高下{by_cpu}",
    ),
    ("by_cpu", "；按每次操作的 CPU 时间：{list}"),
    ("emulated_disk", "模拟磁盘上限（{limits}）"),
    ("bare_device", "裸设备能力（{figure}）"),
    ("throttle_itself", "限速上限（{limits}）"),
    ("its_bare_figure", "其裸设备能力（{figure}）"),
    ("own_disks", "各赛道自己的磁盘（{disks}）"),
    ("lane_on_bare_device", "{lane} 在裸设备上（{figure}）"),
    ("lane_on_disks", "{lane} 在 {disks} 块磁盘上，每块 {limits}"),
    ("lane_not_limited", "{lane} 不限速"),
    ("at_own_disk", "每条赛道都达到自己磁盘（{disks}）的 {share}：{what}"),
    ("at_own_emulated_disk", "每条赛道都达到自己模拟磁盘（{disks}）的 {share}：{what}"),
    ("difference_of_disks", "差异来自磁盘"),
    ("difference_of_layouts", "差异来自磁盘，以及各赛道如何把工作分布到磁盘上：条带、副本和请求大小"),
    ("difference_of_disks_and_writes", "差异来自磁盘，也来自应用每写 1 字节各赛道实际写到磁盘的量（{list}）"),
    ("flushes_per_second", "每秒 {rate} 次刷盘"),
    ("writes_differ", "每条赛道都达到{ceiling}的 {share}，但应用每写 1 字节，它们实际写到设备的量不同（{list}）"),
    ("makes_flushes", "{who} 的刷盘次数达到裸设备“每写一次刷一次”的 {share}（{bare}；各赛道每秒刷盘：{list}）"),
    ("make_flushes", "{who} 的刷盘次数达到裸设备“每写一次刷一次”的 {share}（{bare}；各赛道每秒刷盘：{list}）"),
    ("flushes_like_the_device", "{who} 的刷盘频率与裸设备“每写一次刷一次”时相当（{bare}；各赛道每秒刷盘：{list}）"),
    ("flush_like_the_device", "{who} 的刷盘频率与裸设备“每写一次刷一次”时相当（{bare}；各赛道每秒刷盘：{list}）"),
    ("spends_time_in_flushes", "{who} 有 {share} 的时间花在刷盘上（每秒刷盘：{list}）"),
    ("spend_time_in_flushes", "{who} 有 {share} 的时间花在刷盘上（每秒刷盘：{list}）"),
    ("trials_of_lane", "{lane} 的 {of} 次试验中的 {count} 次"),
    ("other_programs", "{each}有其他程序在运行，因此无法判断瓶颈在哪里（{example}）"),
    ("a_thread", "一个线程"),
    ("thread_fills_core", "{lane} 的 {thread} 占满一个核心的 {share}"),
    ("lane_fills_cpus", "{lane} 占用全部 CPU 的 {share}"),
    ("with_spare_device", "{what}，而设备只用到 {share}"),
    ("keeps_requests", "设备上要求保持 {depth} 个请求，{who} 只保持了 {range} 个"),
    ("keep_requests", "设备上要求保持 {depth} 个请求，{who} 只保持了 {range} 个"),
    ("no_lane_has_a_figure", "没有任何赛道测得数据"),
    ("measured_elsewhere", "由其他工具测得，受何限制不得而知"),
    (
        "shared_rate",
        "按最慢赛道（{slowest}）最大速率的 {share} 倍：每条赛道每秒 {rate} 次操作；工作按节拍进行，达到该速率并不说明瓶颈",
    ),
    ("paced", "工作按节拍进行，达到其速率并不说明瓶颈"),
    ("several_kinds", "多种工作同时进行，裸设备对这种混合没有已知上限"),
    (
        "beyond_the_ceiling",
        "{who}达到{ceiling}的 {share}，这不可能：上限是在设备较慢的时刻测得的，或者磁盘由自身的缓存应答；各赛道离磁盘极限有多近无从得知",
    ),
    ("no_single_cause", "没有突出的单一原因；设备用到{ceiling}的 {share}"),
    ("no_ceiling_known", "没有突出的单一原因，裸设备对这项工作也没有已知上限"),
];
