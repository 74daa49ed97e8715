import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("./io_faults.c", import.meta.url));

/** Calls that may fail, as bits. */
export const CALLS = { writes: 1, syncs: 2, renames: 4, removals: 8, reads: 16, opens: 32, cuts: 64 } as const;
export const EIO = 5;
export const ENOSPC = 28;

/** Which calls fail, how often, and with which error. */
export interface Faults {
  readonly calls: number;
  /** 0 to 1. */
  readonly share: number;
  readonly error: number;
}

/** Has calls of a process on files below a folder fail. */
export interface IoFaults {
  /** The command that runs the application behind it with the faults. */
  within(folder: string): string[];
  set(faults: Faults): void;
  clear(): void;
  /** Calls that failed since {@link set}. */
  readonly failed: number;
  remove(): void;
}

/** Compiles the library that is preloaded; null where there is no C compiler. */
export async function ioFaults(): Promise<IoFaults | null> {
  const folder = await Deno.makeTempDir({ prefix: "stackroom-faults-" });
  const library = `${folder}/io_faults.so`;
  const args = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"];
  const compiled = await new Deno.Command("cc", { args, stderr: "piped" }).output().catch(() => null);
  if (!compiled) {
    await Deno.remove(folder, { recursive: true });
    return null;
  }
  if (!compiled.success) throw new Error(new TextDecoder().decode(compiled.stderr));
  const control = `${folder}/control`;
  const write = (...values: readonly number[]) => {
    const view = new DataView(new ArrayBuffer(16));
    for (const [at, value] of values.entries()) view.setUint32(at * 4, value, true);
    // In place: the process has mapped it.
    using file = Deno.openSync(control, { write: true, create: true });
    file.writeSync(new Uint8Array(view.buffer));
  };
  const clear = () => write(0, 0, 0, 0);
  clear();
  return {
    within: (folder) => ["env", `LD_PRELOAD=${library}`, `IO_FAULTS=${control}`, `IO_FAULTS_FOLDER=${folder}`],
    set: ({ calls, share, error }) => write(calls, Math.round(share * 1_000_000), error, 0),
    clear,
    get failed() {
      return new DataView(Deno.readFileSync(control).buffer).getUint32(12, true);
    },
    remove: () => Deno.removeSync(folder, { recursive: true }),
  };
}
