/** Writes a small file whole or not at all: beside its place, flushed, then renamed. Readable by the owner only. */
export function writeDurably(path: string, bytes: Uint8Array): void {
  const beside = `${path}.new`;
  using file = Deno.openSync(beside, BESIDE);
  try {
    for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
    file.syncSync();
  } catch (error) {
    // A partial file would take room on a full disk.
    Deno.removeSync(beside);
    throw error;
  }
  Deno.renameSync(beside, path);
  syncFolder(path.slice(0, path.lastIndexOf("/")));
}

const BESIDE: Deno.OpenOptions = { create: true, write: true, truncate: true, mode: 0o600 };

/** Async {@link writeDurably}, for network shares that may never respond. */
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

/** Syncs the entries of a folder: a synced file may still lose its name on power loss. */
export function syncFolder(path: string): void {
  using folder = Deno.openSync(path, { read: true });
  folder.syncSync();
}

/** Async {@link syncFolder}. */
export async function syncFolderAsync(path: string): Promise<void> {
  using folder = await Deno.open(path, { read: true });
  await folder.sync();
}

/** Whether a file or folder exists; follows symbolic links. @throws any other error than NotFound */
export function exists(path: string): boolean {
  return unlessMissing(() => Deno.statSync(path)) !== null;
}

/** The size of a file, bytes; null if it does not exist. @throws any other error */
export function sizeIfExists(path: string): number | null {
  return unlessMissing(() => Deno.statSync(path).size);
}

/** Async {@link sizeIfExists}. */
export async function sizeIfExistsAsync(path: string): Promise<number | null> {
  return await unlessMissingAsync(async () => (await Deno.stat(path)).size);
}

/** The text of a file; null if it does not exist. @throws any other error */
export function textIfExists(path: string): string | null {
  return unlessMissing(() => Deno.readTextFileSync(path));
}

/** Removes a file if it exists. @throws any other error than NotFound */
export function removeIfExists(path: string): void {
  unlessMissing(() => Deno.removeSync(path));
}

/** Async {@link removeIfExists}. */
export async function removeIfExistsAsync(path: string): Promise<void> {
  await unlessMissingAsync(() => Deno.remove(path));
}

/** The result of `use`; null if it throws NotFound. @throws any other error */
export function unlessMissing<Value>(use: () => Value): Value | null {
  try {
    return use();
  } catch (error) {
    return nullIfMissing(error);
  }
}

/** Async {@link unlessMissing}. */
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
