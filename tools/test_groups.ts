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
  /** The folder of its files, with a number where that has several groups, or the name of its file. */
  readonly name: string;
  readonly paths: readonly string[];
}

interface GroupedArgs {
  readonly maxFiles: number;
  /** Folders, relative to the project. */
  readonly ignored: readonly string[];
  readonly folder: string;
  /** Flags of `deno test`. */
  readonly flags: readonly string[];
}

/**
 * Reads the arguments of `run_grouped.ts`. A flag of `deno test` has its value behind a `=`: without it, the value would
 * be taken for another folder, and the flag would take the first group for its value.
 *
 * @returns a sentence where an argument is none of these
 */
export function groupedArgs(args: readonly string[]): GroupedArgs | { readonly problem: string } {
  const value = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const rest = args.filter((arg) => !/^--(?:files|ignore)=/.test(arg));
  const flags = rest.filter((arg) => arg.startsWith("-"));
  const [folder, ...others] = rest.filter((arg) => !arg.startsWith("-"));
  const wrong = [...flags.filter((flag) => !/^--[^=]+=/.test(flag) && !SWITCHES.includes(flag)), ...others];
  if (folder === undefined || wrong.length > 0) {
    const named = wrong.length > 0 ? ` Not understood: ${wrong.join(" ")}.` : "";
    return {
      problem: `Usage: --files=N [--ignore=FOLDER,FOLDER] FOLDER [flags of deno test, values behind a =].${named} ` +
        "Single files are run by deno test --config deno.test.json -A FILE.",
    };
  }
  return { maxFiles: Number(value("files")), ignored: value("ignore")?.split(",") ?? [], folder, flags };
}

/**
 * Test files that share a worker, and with it the modules that they import: loading those for each file takes longer
 * than many of the tests. Files of one folder import the same. A file whose tests may leave operations or resources
 * behind runs alone, since the checks of another file's tests would take those for theirs.
 *
 * @param maxFiles of a group
 * @returns the larger groups first, so that no worker is left with one at the end
 */
export function testGroups(files: readonly TestFile[], maxFiles: number): TestGroup[] {
  const sorted = [...files].sort((a, b) => a.path < b.path ? -1 : 1);
  const [alone, others] = [sorted.filter(leavesSomething), sorted.filter((file) => !leavesSomething(file))];
  const groups = [...Map.groupBy(others, ({ path }) => folderOf(path))].flatMap(([folder, members]) => {
    const count = Math.ceil(members.length / maxFiles);
    const size = Math.ceil(members.length / count);
    return Array.from({ length: count }, (_, n) => ({
      name: count === 1 ? folder : `${folder}_${n + 1}`,
      members: members.slice(n * size, (n + 1) * size),
    }));
  });
  const singles = alone.map((file) => ({ name: file.path.replace(/^tests\/(.*)_test\.tsx?$/, "$1"), members: [file] }));
  return [...groups, ...singles]
    .sort((a, b) => sizeOf(b.members) - sizeOf(a.members))
    .map(({ name, members }) => ({ name, paths: members.map(({ path }) => path) }));
}

/** Of all its text: the best that is known of a test's duration before it runs. */
function sizeOf(files: readonly TestFile[]): number {
  return files.reduce((sum, { text }) => sum + text.length, 0);
}

/** Where its tests are not checked for operations and resources; `leaks` are these options of a fixture. */
function leavesSomething({ text }: TestFile): boolean {
  return /\bsanitize(?:Ops|Resources): false\b|\bleaks\b/.test(text);
}

/** `lib/http` of `tests/lib/http/admission/x_test.ts`: a room's part, or the room where its files are no more. */
function folderOf(path: string): string {
  const [, room, part] = path.split("/").slice(0, -1);
  if (room === undefined) return "others";
  return part !== undefined && (room === "lib" || room === "embedded") ? `${room}/${part}` : room;
}
