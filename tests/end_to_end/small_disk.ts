/** A disk of a few MiB that only the processes started within it see; the kernel must let this user mount. */
export interface SmallDisk {
  /** The command that runs another one on the disk. */
  readonly within: readonly string[];
  /** The folder of the disk as it is seen from outside. */
  readonly outside: string;
  resize(bytes: number): Promise<void>;
  /** Gives the disk and all that is on it up. */
  remove(): Promise<void>;
}

/** How the right to mount is had: as root, or as root of a user namespace of one's own. */
const WAYS = [
  { unshare: ["-m"], nsenter: ["-m"] },
  { unshare: ["-Urm"], nsenter: ["-U", "-m", "--preserve-credentials"] },
];

/** Mounts a disk in memory at a folder, in a mount namespace of its own; null where the kernel allows it in no way. */
export async function mountSmallDisk(folder: string, bytes: number): Promise<SmallDisk | null> {
  for (const { unshare, nsenter } of WAYS) {
    const script = `mount -t tmpfs -o mode=700,size=${bytes} tmpfs "$0" && echo mounted && exec cat`;
    const holder = new Deno.Command("unshare", {
      args: [...unshare, "sh", "-c", script, folder],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    });
    const child = spawned(holder);
    if (!child) return null;
    const output = child.stdout.getReader();
    const { value } = await output.read();
    if (value) {
      // Without a word about it, the command would begin in the folder that the namespace calls its root.
      const within = ["nsenter", "-t", String(child.pid), ...nsenter, `--wd=${Deno.cwd()}`, "--"];
      return {
        within,
        outside: `/proc/${child.pid}/root${folder}`,
        async resize(size) {
          const args = [...within.slice(1), "mount", "-o", `remount,size=${size}`, folder];
          const { success } = await new Deno.Command(within[0], { args }).output();
          if (!success) throw new Error("the disk could not be resized");
        },
        async remove() {
          await child.stdin.close();
          await output.cancel();
          await child.status;
        },
      };
    }
    await child.stdin.close().catch(() => {});
    await output.cancel();
    await child.status;
  }
  return null;
}

function spawned(command: Deno.Command): Deno.ChildProcess | null {
  try {
    return command.spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
