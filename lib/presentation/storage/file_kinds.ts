/** What a name says of a file, for its icon and the column "Kind". */
type FileGroup = "image" | "text" | "data" | "sound" | "film" | "archive" | "other";

const GROUPS: Readonly<Record<Exclude<FileGroup, "other">, string>> = {
  image: "avif bmp gif heic jp2 jpeg jpg png svg tif tiff webp",
  text: "csv htm html log md pdf rtf txt doc docx odt xls xlsx",
  data: "json jsonl toml xml yaml yml parquet sqlite",
  sound: "aac flac m4a mp3 ogg opus wav",
  film: "avi m4v mkv mov mp4 mpeg webm",
  archive: "7z bz2 gz rar tar tgz xz zip zst",
};

const GROUP_OF = new Map(
  Object.entries(GROUPS).flatMap(([group, names]) => names.split(" ").map((name) => [name, group as FileGroup])),
);

/** Longest ending that is shown as a kind. */
const MAX_ENDING = 8;

/** The group that a file's name puts it in. */
export function fileGroup(name: string): FileGroup {
  return GROUP_OF.get(endingOf(name)) ?? "other";
}

/** The ending of a file's name in capitals: `TIFF`; "" without one that says anything. */
export function fileKind(name: string): string {
  const ending = endingOf(name);
  return ending.length <= MAX_ENDING && /^[a-z0-9]+$/.test(ending) ? ending.toUpperCase() : "";
}

function endingOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 && !name.includes("/", dot) ? name.slice(dot + 1).toLowerCase() : "";
}
