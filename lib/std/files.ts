/** Writes a small file whole or not at all: beside its place, flushed, then renamed. Readable by the owner only. */
export function writeDurably(path: string, bytes: Uint8Array): void {
  const beside = `${path}.new`;
  using file = Deno.openSync(beside, BESIDE);
  try {
    for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
    file.syncSync();
  } catch (error) {
    // Half of it would take room on a full disk.
    Deno.removeSync(beside);
    throw error;
  }
  Deno.renameSync(beside, path);
  syncFolder(path.slice(0, path.lastIndexOf("/")));
}

const BESIDE: Deno.OpenOptions = { create: true, write: true, truncate: true, mode: 0o600 };

/** As {@link writeDurably}, while the process goes on: a network share that is gone may never let it end. */
export async function writeDurablyAsync(path: string, bytes: Uint8Array): Promise<void> {
  const beside = `${path}.new`;
  using file = await Deno.open(beside, BESIDE);
  try {
    await writeAll(file, bytes);
    await file.sync();
  } catch (error) {
    // Half of it would take room on a full disk.
    await Deno.remove(beside);
    throw error;
  }
  await Deno.rename(beside, path);
  await syncFolderAsync(path.slice(0, path.lastIndexOf("/")));
}

/** Writes all of these bytes: a single write may take fewer. */
export async function writeAll(file: Pick<Deno.FsFile, "write">, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await file.write(bytes.subarray(written));
}

/** Makes the entries of a folder durable: a file that was synced alone may still lose its name on power loss. */
export function syncFolder(path: string): void {
  using folder = Deno.openSync(path, { read: true });
  folder.syncSync();
}

/** As {@link syncFolder}, while the process goes on. */
export async function syncFolderAsync(path: string): Promise<void> {
  using folder = await Deno.open(path, { read: true });
  await folder.sync();
}

/** Whether there is a file or a folder, or what a symbolic link leads to. @throws what else keeps it from being looked at */
export function exists(path: string): boolean {
  return unlessMissing(() => Deno.statSync(path)) !== null;
}

/** The bytes of a file; null where there is none. @throws what else keeps it from being looked at */
export function sizeIfExists(path: string): number | null {
  return unlessMissing(() => Deno.statSync(path).size);
}

/** As {@link sizeIfExists}, without blocking the process. */
export async function sizeIfExistsAsync(path: string): Promise<number | null> {
  return await unlessMissingAsync(async () => (await Deno.stat(path)).size);
}

/** The text of a file; null where there is none. @throws what else keeps it from being read */
export function textIfExists(path: string): string | null {
  return unlessMissing(() => Deno.readTextFileSync(path));
}

/** Removes a file, unless there is none. @throws what else keeps it from being removed */
export function removeIfExists(path: string): void {
  unlessMissing(() => Deno.removeSync(path));
}

/** As {@link removeIfExists}, without blocking the process. */
export async function removeIfExistsAsync(path: string): Promise<void> {
  await unlessMissingAsync(() => Deno.remove(path));
}

/** The result of a use of a file; null where there is none. @throws what else keeps it from being used */
export function unlessMissing<Value>(use: () => Value): Value | null {
  try {
    return use();
  } catch (error) {
    return nullIfMissing(error);
  }
}

/** As {@link unlessMissing}, without blocking the process. */
export async function unlessMissingAsync<Value>(use: () => Promise<Value>): Promise<Value | null> {
  try {
    return await use();
  } catch (error) {
    return nullIfMissing(error);
  }
}

function nullIfMissing(error: unknown): null {
  if (error instanceof Deno.errors.NotFound) return null;
  throw error;
}

/**
 * A text that differs when a file was replaced or edited. Mounted secrets are symbolic links that are replaced: a new
 * file differs in its inode, an edited one in its times.
 */
export function fileIdentity({ dev, ino, size, mtime, ctime }: Deno.FileInfo): string {
  return [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join();
}
