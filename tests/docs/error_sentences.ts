/**
 * The sentences of errors and warnings in the source: the texts in calls that create an error, end a start, write a line
 * or show a failure on a page. `…` stands for a value.
 */

/** A text of the source. */
interface Literal {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface Source {
  readonly code: string;
  /** The code, with blanks for comments and zeros for texts, so that it has the same positions. */
  readonly bare: string;
  readonly literals: readonly Literal[];
}

export interface Sentence {
  readonly text: string;
  readonly path: string;
}

/** What creates an error of a start, a response, or a line of the log. */
const MAKERS = [
  "new (?:Http|Config|DataFolder|Listen|Permission|SessionKey|RevocationFile|Build)Error",
  "new (?:S3Failure|Problem)",
  "this\\.refuse|(?:this|reading)\\.(?:refuse|report|warn|required)",
  "badRequest|notAuthenticated|credentialsRefused|forbidden|notFound|unprocessable|tooManyRequests|tooMany",
  "badGateway|unavailable|gatewayTimeout|resultsError",
  "#?log\\.write|unavailableApp",
];
/** The same in the embedded servers. What their clients read has the codes of S3, MAPI and Kubernetes. */
const PRINTERS = ["new DataFolderError", "console\\.error", "#?warn"];

/** Calls and constants with sentences that only some files have. */
const FURTHER: Readonly<Record<string, string>> = {
  "compose/server_command.ts": "permissions\\.run\\.map",
  "compose/verify.ts": "new Error|found",
  "embedded/store/body_fault.ts": "function (?:bodyFault|readPart)",
  "embedded/store/quotas.ts": "function warningOf",
  "lib/auth/users_file.ts": "new Error",
  "lib/config/values.ts": "context\\.addIssue",
  "lib/notifications/notifier.ts": "#report",
  "lib/process/data_folder.ts": "function opennessOf|failed\\.push",
  "lib/process/shed_load.ts": "JSON\\.stringify",
  "lib/results/file_response.ts": "function failureOf",
  "lib/results/revoked_sessions.ts": "UNWRITTEN|UNSHARED",
  "lib/tasks/fixity/check_object.ts": "#row|#named|function (?:compared|detailOf)",
  "lib/tasks/redis/redis_client.ts": "#report",
  "lib/http/app.ts": "return answer",
  "lib/kubernetes/cluster_unavailable.ts": "super",
  "lib/s3/errors.ts": "function messageOf",
  "routes/api/v1/tags.ts": "reject",
};

/** The tables of the pages that say why something failed. Tables that also hold other words are in {@link MIXED}. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  closed_side: ["CLOSED"],
  fetch_problems: ["ANY_FILE", "OUR_FILE", "OTHER_FILE", "OTHER_STATUS", "noFile", "resultsOutage"],
  login: ["MALFORMED", "UNREACHABLE", "ACCOUNT_SENTENCES", "LOGIN_ERRORS"],
  page: ["REFUSED_URLS"],
  page_text: ["PAGE_PROBLEMS"],
  problems: ["PROBLEMS", "VOLUME_ENDS", "WARMUP_ENDS", "WAITING_WORDS"],
  storage: ["PROBLEMS", "FORBIDDEN", "MISSING"],
  storage_fixity: ["START_PROBLEMS"],
  storage_object: ["NOT_RESTORED"],
  storage_tasks: ["REASONS", "NAME_PROBLEMS"],
  uploads: ["FAULTS", "NOTICES"],
  viewer: ["NO_IMAGE", "NO_MANIFEST", "NO_TEXT"],
};

/** Members of tables that hold other words too. */
const MIXED: Readonly<Record<string, readonly string[]>> = {
  board: ["stale"],
  card: ["failedNotRead", "failedNotNamed", "partOfRows", "noManifestOf", "volumesGone", "pipelineGone", "noPages"],
  log: [
    "logTooLarge",
    "noLog",
    "stopped",
    "quiet",
    "unreadable",
    "lineGone",
    "lineLater",
    "linkNotCopied",
    "noLogNamed",
    "noRunManifest",
    "runWithoutPages",
    "logNeedsScripts",
  ],
  login: ["endedEarly", "lockedFor", "lockedUntil", "endedAgo", "endedAt", "endedAgoOf", "endedAtOf", "unlocked"],
  page: [
    "noList",
    "campaignGone",
    "serverUnreachable",
    "unreadable",
    "noPage",
    "resultsOutage",
    "clusterOutage",
    "noCluster",
    "clusterTimeout",
    "otherOutage",
    "skippedCampaigns",
    "noCampaign",
    "olderUnsearched",
    "apiNeedsScripts",
  ],
  page_text: ["noFile", "noPageNamed", "noTextLines", "pageNeedsScripts", "textNotCopied"],
  frame: ["sentence"],
  storage: [
    "outdatedPage",
    "readOnly",
    "noWriting",
    "noDeleting",
    "sessionOver",
    "noAccount",
    "ended",
    "noBuckets",
    "systemLevel",
    "incomplete",
  ],
  storage_audit: [
    "searched",
    "noApplication",
    "forbidden",
    "otherTenant",
    "unsupported",
    "missing",
    "noTime",
    "wrong",
  ],
  storage_fixity: [
    "systemLevel",
    "someBuckets",
    "notRead",
    "othersNotRead",
    "damage",
    "unprovenObjects",
    "otherEtags",
    "failed",
    "failedUnknown",
    "rowsLeftOut",
    "rowsGone",
    "gone",
    "otherVersion",
    "bagInvalid",
    "invalidLines",
    "writeError",
    "scheduleError",
    "notCurrent",
  ],
  storage_object: [
    "unreadable",
    "noVersionRights",
    "notCompared",
    "unknownKind",
    "binaryByType",
    "binaryByName",
    "encoded",
    "hiddenImage",
    "noImageSize",
    "notText",
    "tooDifferent",
  ],
  storage_share: ["machine", "network", "noLink", "noUrl", "needsScripts", "outOfRange", "tooLongForQr", "notCopied"],
  storage_tags: ["noRight", "noTags", "other"],
  storage_tasks: ["zipMissing", "gone", "notCounted", "undoUnknown", "inUse"],
  viewer: [
    "imageFailed",
    "imageBlocked",
    "tilesFailed",
    "tooLarge",
    "unreadablePages",
    "needsScripts",
    "noText",
    "notCopied",
    "emptyText",
    "full",
    "missing",
    "failed",
  ],
};

/** What says why a backup, the compose file or the chart ends: a script, and templates of others' programs. */
const DEPLOYED: Readonly<Record<string, RegExp>> = {
  "deploy/backup": /^\t*echo "(.*)" >&2$/gm,
  "deploy/compose.yaml": /:\?([^}]+)\}/g,
  "deploy/chart/templates/_helpers.tpl": /\b(?:required|fail)(?: \(printf)? "([^"]+)"/g,
  "deploy/chart/templates/scaling.yaml": /\b(?:required|fail)(?: \(printf)? "([^"]+)"/g,
  "deploy/chart/templates/service_monitor.yaml": /\b(?:required|fail)(?: \(printf)? "([^"]+)"/g,
};

/** Errors of programs inside, which no one reads as they are. */
const INTERNAL = /^lib\/client\//;
/** A response that names a field of the request, and what is wrong with it. */
const OF_A_FIELD = /^(?:…|[a-z_-]+): /;

/** All sentences of the server, of what it prints, and of the pages. */
export async function errorSentences(root: URL): Promise<Sentence[]> {
  const found: Sentence[] = [];
  const paths = await sourcesOf(root);
  const moved = Object.keys(FURTHER).filter((path) => !paths.includes(path));
  if (moved.length > 0) throw new Error(`no such files: ${moved.join(", ")}`);
  for (const path of paths) {
    const source = parse(await Deno.readTextFile(new URL(path, root)));
    const makers = [
      ...(path.startsWith("embedded/") ? [] : MAKERS),
      ...PRINTERS,
      ...(FURTHER[path] ? [FURTHER[path]] : []),
    ];
    for (const { maker, texts } of callsOf(source, makers.join("|"))) {
      const isOfRequest = /badRequest|unprocessable/.test(maker);
      found.push(...texts.filter((text) => !(isOfRequest && OF_A_FIELD.test(text))).map((text) => ({ text, path })));
    }
  }
  for (const [file, names] of [...Object.entries(TABLES), ...Object.entries(MIXED)]) {
    const path = `locales/en/${file}.ts`;
    const source = parse(await Deno.readTextFile(new URL(path, root)));
    for (const name of names) {
      const texts = textsIn(source, ...rangeOf(source, name, TABLES[file]?.includes(name) ?? false));
      if (texts.length === 0) throw new Error(`${path} has no sentence of ${name}`);
      found.push(...texts.map((text) => ({ text, path })));
    }
  }
  for (const [path, pattern] of Object.entries(DEPLOYED)) {
    const text = await Deno.readTextFile(new URL(path, root));
    for (const [, sentence] of text.matchAll(pattern)) {
      found.push({ text: sentence.replace(/%s|\$\w+/g, "…"), path });
    }
  }
  return found.filter(({ text }) => isSentence(text));
}

async function sourcesOf(root: URL): Promise<string[]> {
  const paths = ["main.ts", "hosted.ts"];
  const walk = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(folder, root))) {
      const path = folder + name;
      if (isDirectory) await walk(`${path}/`);
      else if (name.endsWith(".ts") && !INTERNAL.test(path)) paths.push(path);
    }
  };
  for (const folder of ["compose/", "embedded/", "lib/", "routes/"]) await walk(folder);
  return paths.sort();
}

/** Two words at least, that are neither a header, nor a query, nor the end of a list. */
function isSentence(text: string): boolean {
  return !/^(?:private, |SELECT |… and … more$)/.test(text) &&
    /\p{L}{2}[,.:;)]? \(?…?\p{L}|… \p{L}{2}|\p{L}{2}: …/u.test(text);
}

/** The calls of makers, each with the texts in its arguments and of the constants that they name. */
function callsOf(source: Source, makers: string): { readonly maker: string; readonly texts: readonly string[] }[] {
  const calls = source.bare.matchAll(new RegExp(`(?<![\\w#])(${makers})(?:\\(| = )`, "g"));
  return [...calls].map(({ 0: { length }, 1: maker, index }) => {
    const start = index + length;
    const end = maker.startsWith("function ")
      ? source.bare.indexOf("\n}\n", start)
      : source.bare[start - 1] === "("
      ? closing(source.bare, start)
      : source.bare.indexOf(";\n", start);
    const constants = new Set(source.code.slice(start, end).match(/\b[A-Z][A-Z_]{3,}\b|\bmessage\b(?!:)/g));
    return { maker, texts: [...textsIn(source, start, end), ...constants.values().flatMap(constant)] };
  });

  function constant(name: string): string[] {
    const at = source.bare.search(new RegExp(`\\bconst ${name}\\b`));
    return at < 0 ? [] : textsIn(source, at, source.bare.indexOf(";\n", at));
  }
}

/** Where a table, a function or a member of a table stands. */
function rangeOf({ bare }: Source, name: string, isTable: boolean): [start: number, end: number] {
  const pattern = isTable
    ? new RegExp(`^(?:export )?(?:const|function) ${name}\\b`, "m")
    : new RegExp(`^  ${name}:`, "m");
  const start = bare.search(pattern);
  if (start < 0) return [0, 0];
  const end = bare.slice(start).search(isTable ? /;\n\n|\n}\n|;\n$/ : /,\n(?=(?: *\n)* {0,2}[\w}"])/);
  return [start, end < 0 ? bare.length : start + end];
}

function textsIn({ literals }: Source, from: number, to: number): string[] {
  return literals.filter(({ start, end }) => start >= from && end <= to).map(({ text }) => text);
}

/** The end of what is in parentheses. */
function closing(bare: string, start: number): number {
  let depth = 1;
  let at = start;
  for (; depth > 0 && at < bare.length; at++) {
    if ("([{".includes(bare[at])) depth++;
    else if (")]}".includes(bare[at])) depth--;
  }
  return at - 1;
}

/** The code and the texts of a source. Texts that are added to one another are one. */
function parse(code: string): Source {
  const found: Literal[] = [];
  let bare = "";
  let at = 0;
  const skip = (end: number, filler: string) => {
    bare += code.slice(at, end).replace(/[^\n]/g, filler);
    at = end;
  };
  while (at < code.length) {
    const rest = code.slice(at, at + 2);
    if (rest === "//" || rest === "/*") {
      const close = rest === "//" ? code.indexOf("\n", at) : code.indexOf("*/", at) + 2;
      skip(close < at ? code.length : close, " ");
    } else if (rest[0] === "/" && /(?:[(,=:[!&|?{};>]|\breturn)\s*$/.test(bare.slice(-40))) {
      skip(at + /^\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\])*\//.exec(code.slice(at, at + 500))![0].length, "0");
    } else if (/["'`]/.test(rest[0])) {
      const start = at;
      const [text, end] = literal(code, start);
      skip(end, "0");
      // A quoted name of a member is no text.
      if (/^\s*:/.test(code.slice(end)) && /[{,]\s*$/.test(bare.slice(0, start))) continue;
      const last = found.at(-1);
      if (last && /^\s*\+\s*$/.test(bare.slice(last.end, start))) {
        found[found.length - 1] = { text: last.text + text, start: last.start, end };
      } else found.push({ text, start, end });
    } else {
      bare += rest[0];
      at++;
    }
  }
  return { code, bare, literals: found.map((one) => ({ ...one, text: one.text.replace(/…(?:\s*…)*/g, "…") })) };
}

/** The text that begins at a quote, with `…` for what a template puts in, and where it ends. */
function literal(code: string, start: number): [text: string, end: number] {
  const quote = code[start];
  let text = "";
  let at = start + 1;
  while (code[at] !== quote) {
    if (at >= code.length) throw new Error(`a text does not end: ${code.slice(start, start + 80)}`);
    if (quote === "`" && code.startsWith("${", at)) {
      text += "…";
      at = endOfValue(code, at + 2);
    } else if (code[at] === "\\") {
      text += code[at + 1] === "n" ? " " : code[at + 1];
      at += 2;
    } else text += code[at++];
  }
  return [text, at + 1];
}

/** The end of a value in a template, behind its brace. */
function endOfValue(code: string, start: number): number {
  let depth = 1;
  let at = start;
  while (depth > 0) {
    if (/["'`]/.test(code[at])) at = literal(code, at)[1];
    else {
      if (code[at] === "{") depth++;
      else if (code[at] === "}") depth--;
      at++;
    }
  }
  return at;
}
