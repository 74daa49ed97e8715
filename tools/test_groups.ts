/** A file of tests. */
interface TestFile {
  /** Relative to the project, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Flags of `deno test` that need no value. */
const SWITCHES = ["--fail-fast", "--quiet", "--shuffle", "--trace-leaks"];

/** What a worker runs, one file after the other. */
interface TestGroup {
  /** The folder of its first file, with a number where that has several groups. */
  readonly name: string;
  readonly paths: readonly string[];
}

interface GroupedArgs {
  readonly maxFiles: number;
  /** How many groups run at the same time, or with `+` how many more than there are processors; undefined: as many. */
  readonly jobs?: string;
  /** Folders of tests, relative to the project. */
  readonly folders: readonly string[];
  /** Folders below them whose tests are left out. */
  readonly ignored: readonly string[];
  /** Flags of `deno test`. */
  readonly flags: readonly string[];
}

/** The options of `run_grouped.ts` itself. */
const OPTIONS = ["--files=", "--folders=", "--ignore=", "--jobs="];

/**
 * Reads the arguments of `run_grouped.ts`. A flag of `deno test` has its value behind a `=`: without it, the flag would
 * take the first group for its value.
 *
 * @returns `problem`: a sentence about the arguments that are not understood
 */
export function groupedArgs(args: readonly string[]): GroupedArgs | { readonly problem: string } {
  const value = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const list = (name: string) => value(name)?.split(",") ?? [];
  const flags = args.filter((arg) => !OPTIONS.some((option) => arg.startsWith(option)));
  const wrong = flags.filter((flag) => !/^--[^=]+=/.test(flag) && !SWITCHES.includes(flag));
  const isCount = (text = "") => /^[1-9]\d{0,3}$/.test(text);
  if (!isCount(value("files"))) wrong.push("--files without a number");
  if (!isCount(value("jobs")?.replace(/^\+/, "") ?? "1")) wrong.push("--jobs without a number");
  if (list("folders").length === 0 || wrong.length > 0) {
    const named = wrong.length > 0 ? ` Not understood: ${wrong.join(" ")}.` : "";
    return {
      problem: `Usage: --files=N --folders=FOLDER,FOLDER [--ignore=FOLDER,FOLDER] [--jobs=N] [flags of deno test, ` +
        `values behind a =].${named} Single files are run by deno test --config deno.test.json -A FILE.`,
    };
  }
  return {
    maxFiles: Number(value("files")),
    jobs: value("jobs"),
    folders: list("folders"),
    ignored: list("ignore"),
    flags,
  };
}

/** The number of groups at the same time, as the runtime's environment variable takes it. */
export function jobsOn(processors: number, jobs: string | undefined): string {
  if (jobs === undefined) return String(processors);
  return jobs.startsWith("+") ? String(processors + Number(jobs)) : jobs;
}

/**
 * Test files that share a worker, and with it the modules that they import: loading those for each file takes longer
 * than many of the tests. Files of one folder import the same, and share what `sharedByFile` starts; small folders that
 * follow each other share a worker as well.
 *
 * @param maxFiles of a group
 * @returns the larger groups first, so that no worker is left with one at the end. A file that says `// Waits for 60 s`
 * counts for as much as a large one.
 */
export function testGroups(files: readonly TestFile[], maxFiles: number): TestGroup[] {
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
  return groups
    .sort((a, b) => sizeOf(b.members) - sizeOf(a.members))
    .map(({ name, members }) => ({ name, paths: members.map(({ path }) => path) }));
}

/** Of all its text and its waits: the best that is known of a test's duration before it runs. */
function sizeOf(files: readonly TestFile[]): number {
  return files.reduce((sum, { text }) => sum + text.length + waitOf(text) * CHARACTERS_A_SECOND, 0);
}

/** The tests of the started application are about as long. */
const CHARACTERS_A_SECOND = 600;

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
