/** The file that tells a backup under way, or one that was cut off, from a whole one. */
export const UNFINISHED = "backup.unfinished";
