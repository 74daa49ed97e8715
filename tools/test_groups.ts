/** A file of tests. */
interface TestFile {
  /** Relative to the project, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** What a worker runs, one file after the other. */
interface TestGroup {
  /** The folder of its first file, with a number where that has several groups. */
  readonly name: string;
  readonly paths: readonly string[];
}

/** Folders whose tests start applications or Chromium: their files last longer, so fewer share a worker. */
const END_TO_END = ["tests/browser", "tests/end_to_end", "tests/servers"];
const MAX_FILES = { units: 60, end_to_end: 8 };

/** The parts of the suite, as tasks of `deno.json` name them. */
export const RINGS = ["units", "end_to_end"] as const;
export type Ring = (typeof RINGS)[number];

/** The ring of a test file; null for those that run before a release only. */
export function ringOf(path: string): Ring | null {
  if (path.startsWith("tests/long/")) return null;
  return END_TO_END.some((folder) => path.startsWith(`${folder}/`)) ? "end_to_end" : "units";
}

/**
 * Test files that share a worker, and with it the modules that they import: loading those for each file takes longer
 * than many of the tests. Files of one folder import the same, and share what `sharedByFile` starts; small folders that
 * follow each other share a worker as well.
 *
 * @returns the groups that last longest first, so that no worker is left with one at the end. A file that says
 * `// Waits for 60 s` counts for as much as a large one.
 */
export function testGroups(files: readonly TestFile[]): TestGroup[] {
  return RINGS.flatMap((ring) => groupsOf(files.filter(({ path }) => ringOf(path) === ring), ring))
    .sort((a, b) => b.seconds - a.seconds);
}

function groupsOf(files: readonly TestFile[], ring: Ring): (TestGroup & { readonly seconds: number })[] {
  const maxFiles = MAX_FILES[ring];
  const sorted = [...files].sort((a, b) => a.path < b.path ? -1 : 1);
  const groups: { readonly name: string; readonly members: TestFile[] }[] = [];
  for (const [folder, members] of Map.groupBy(sorted, ({ path }) => folderOf(path))) {
    const last = groups.at(-1);
    if (last && last.members.length + members.length <= maxFiles) {
      last.members.push(...members);
      continue;
    }
    const count = Math.ceil(members.length / maxFiles);
    const size = Math.ceil(members.length / count);
    for (let n = 0; n < count; n++) {
      const name = count === 1 ? folder : `${folder}_${n + 1}`;
      groups.push({ name, members: members.slice(n * size, (n + 1) * size) });
    }
  }
  return groups.map(({ name, members }) => ({
    name,
    paths: members.map(({ path }) => path),
    seconds: members.reduce((sum, { text }) => sum + text.length / CHARACTERS_A_SECOND[ring] + waitOf(text), 0),
  }));
}

/** Text that is run in a second: all that is known of a test's duration before it runs. */
const CHARACTERS_A_SECOND = { units: 8000, end_to_end: 600 };

/** How long a file says that it waits for something, s. */
function waitOf(text: string): number {
  return Number(/^\/\/ Waits for (\d{1,3}) s\b/m.exec(text)?.[1] ?? 0);
}

/** The rooms whose parts have groups of their own. */
const ROOMS_OF_PARTS = ["lib", "embedded", "end_to_end"];

/** `lib/http` of `tests/lib/http/admission/x_test.ts`: a room's part, or the room where its files are no more. */
function folderOf(path: string): string {
  const [, room, part] = mirrored(path).split("/").slice(0, -1);
  if (room === undefined) return "others";
  return part !== undefined && ROOMS_OF_PARTS.includes(room) ? `${room}/${part}` : room;
}

/** The path as if the tests of a workspace member lay in `tests`: `tests/embedded/store` of `embedded/tests/store`. */
function mirrored(path: string): string {
  return path.replace(/^embedded\/tests\//, "tests/embedded/");
}
