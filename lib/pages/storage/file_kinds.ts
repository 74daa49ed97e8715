/** The group of a file by its name, for its icon. */
type FileGroup = "image" | "text" | "data" | "sound" | "film" | "archive" | "other";

const GROUPS: Readonly<Record<Exclude<FileGroup, "other">, string>> = {
  image: "avif bmp gif heic jp2 jpeg jpg png svg tif tiff webp",
  text: "csv htm html log md pdf rtf txt doc docx odt xls xlsx",
  data: "json jsonl toml xml yaml yml parquet sqlite",
  sound: "aac flac m4a mp3 ogg opus wav",
  film: "avi m4v mkv mov mp4 mpeg webm",
  archive: "7z bz2 gz rar tar tgz xz zip zst",
};

const GROUP_OF = byEnding(GROUPS);

/** Longest ending that is shown as a kind. */
const MAX_ENDING = 8;

/** The group that a file's name puts it in. */
export function fileGroup(name: string): FileGroup {
  return GROUP_OF.get(endingOf(name)) ?? "other";
}

/** The extension of a file's name in capitals: `TIFF`; "" without one. */
export function fileKind(name: string): string {
  const ending = endingOf(name);
  return ending.length <= MAX_ENDING && /^[a-z0-9]+$/.test(ending) ? ending.toUpperCase() : "";
}

function endingOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 && !name.includes("/", dot) ? name.slice(dot + 1).toLowerCase() : "";
}

/** How an object is shown; null: only as a file. */
type PreviewKind = "image" | "tiff" | "jp2" | "audio" | "video" | "pdf" | "csv" | "json" | "text" | null;

/** Unspecific types: the name decides. */
const GENERAL = new Set(["", "application/octet-stream", "binary/octet-stream", "application/x-www-form-urlencoded"]);

const KINDS: Readonly<Record<Exclude<PreviewKind, null>, string>> = {
  image: "avif bmp gif jpeg jpg png svg webp",
  tiff: "tif tiff",
  jp2: "j2c j2k jp2 jpf jpx",
  audio: "aac flac m4a mp3 oga ogg opus wav",
  video: "m4v mov mp4 ogv webm",
  pdf: "pdf",
  csv: "csv tsv",
  json: "geojson json jsonld",
  text:
    "bat c cfg conf cpp css env go h htm html ini java js jsonl jsx log md ndjson php ps1 py r rb rs rst sh sql svelte tex " +
    "toml ts tsx txt vue xhtml xml xsd xsl xslt yaml yml",
};

const KIND_OF = byEnding(KINDS);

/** Media types by the first pattern that they match; images are those that browsers show. */
const KIND_OF_TYPE: readonly (readonly [RegExp, PreviewKind])[] = [
  [/^image\/(?:avif|bmp|gif|jpeg|png|svg\+xml|webp|x-ms-bmp)$/, "image"],
  [/^image\/tiff$/, "tiff"],
  [/^image\/(?:j2c|jp2|jpm|jpx|x-jp2)$/, "jp2"],
  [/^application\/pdf$/, "pdf"],
  [/^audio\//, "audio"],
  [/^video\//, "video"],
  [/^text\/(?:csv|tab-separated-values)$/, "csv"],
  [/^(?:application|text)\/(?:[\w.+-]+\+)?json$/, "json"],
  [/^(?:text\/.+|application\/(?:[\w.+-]+\+)?(?:xml|yaml|toml))$/, "text"],
  [/^application\/(?:x-)?(?:javascript|ndjson|sh|sql|yaml)$/, "text"],
];

/** How an object is shown, by its media type, or by its name where the type is unspecific. */
export function previewKind(name: string, mediaType: string): PreviewKind {
  const type = essence(mediaType);
  const byName = KIND_OF.get(/\.([a-z0-9]+)$/i.exec(name)?.[1].toLowerCase() ?? "") ?? null;
  if (GENERAL.has(type)) return byName;
  const kind = KIND_OF_TYPE.find(([pattern]) => pattern.test(type))?.[1] ?? null;
  // Tables and JSON are often stored as plain text.
  return kind === "text" && (byName === "csv" || byName === "json") ? byName : kind;
}

/** The media type that decides how an object is shown, without its parameters; null where its name does. */
export function decidingType(mediaType: string): string | null {
  const type = essence(mediaType);
  return GENERAL.has(type) ? null : type;
}

/** The names of lists of endings, by each ending. */
function byEnding<Name extends string>(lists: Readonly<Record<Name, string>>): ReadonlyMap<string, Name> {
  const names = Object.keys(lists) as Name[];
  return new Map(names.flatMap((name) => lists[name].split(" ").map((ending) => [ending, name] as const)));
}

function essence(mediaType: string): string {
  return mediaType.split(";", 1)[0].trim().toLowerCase();
}
