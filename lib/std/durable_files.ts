/** Writes a small file whole or not at all: beside its place, flushed, then renamed. Readable by the owner only. */
export function writeDurably(path: string, bytes: Uint8Array): void {
  const beside = `${path}.new`;
  const file = Deno.openSync(beside, { create: true, write: true, truncate: true, mode: 0o600 });
  try {
    let written = 0;
    while (written < bytes.length) written += file.writeSync(bytes.subarray(written));
    file.syncSync();
  } catch (error) {
    // Half of it would take room on a full disk.
    Deno.removeSync(beside);
    throw error;
  } finally {
    file.close();
  }
  Deno.renameSync(beside, path);
  syncFolder(path.slice(0, path.lastIndexOf("/")));
}

/** As {@link writeDurably}, while the process goes on: a network share that is gone may never let it end. */
export async function writeDurablyAsync(path: string, bytes: Uint8Array): Promise<void> {
  const beside = `${path}.new`;
  const file = await Deno.open(beside, { create: true, write: true, truncate: true, mode: 0o600 });
  try {
    let written = 0;
    while (written < bytes.length) written += await file.write(bytes.subarray(written));
    await file.sync();
  } catch (error) {
    // Half of it would take room on a full disk.
    await Deno.remove(beside);
    throw error;
  } finally {
    file.close();
  }
  await Deno.rename(beside, path);
  await syncFolderAsync(path.slice(0, path.lastIndexOf("/")));
}

/** Makes the entries of a folder durable: a file that was synced alone may still lose its name on power loss. */
export function syncFolder(path: string): void {
  const folder = Deno.openSync(path, { read: true });
  try {
    folder.syncSync();
  } finally {
    folder.close();
  }
}

/** As {@link syncFolder}, while the process goes on. */
export async function syncFolderAsync(path: string): Promise<void> {
  const folder = await Deno.open(path, { read: true });
  try {
    await folder.sync();
  } finally {
    folder.close();
  }
}
