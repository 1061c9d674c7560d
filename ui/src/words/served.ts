// Directories that servers keep: a client does not see what these promise.
import type { Lane } from "../types";

/** As the mount table calls their filesystems: those of crates/model/src/promises.rs, as a test compares. */
export const SERVED = [
  "9p",
  "afs",
  "beegfs",
  "ceph",
  "cifs",
  "fuse.ceph",
  "fuse.glusterfs",
  "gpfs",
  "lustre",
  "nfs",
  "nfs4",
  "orangefs",
  "pvfs2",
  "smb3",
  "wekafs",
];

/** Whether a lane is a directory of a filesystem that servers keep. */
export function isServed(lane: Pick<Lane, "venue" | "backing" | "filesystem">): boolean {
  return lane.venue === "directory" && lane.backing === "" && SERVED.includes(lane.filesystem);
}
