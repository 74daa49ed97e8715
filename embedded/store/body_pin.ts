import { BODY_FOLDER } from "./bodies.ts";

/**
 * Opens the folder of bodies for a kernel lock: a copy of bodies takes the lock shared, a removal takes it exclusively.
 * The lock ends with its process, so that an interrupted copy blocks nothing.
 */
function openBodies(folder: string): Deno.FsFile {
  return Deno.openSync(`${folder}/${BODY_FOLDER}`, { read: true });
}

/**
 * Retains every present body until the pin is released, deleted ones included: the store defers their removal. Every
 * body that a copy of the index names stays readable until then.
 */
export async function pinBodies(folder: string): Promise<{ release(): void }> {
  const bodies = openBodies(folder);
  await bodies.lock(false);
  return { release: () => bodies.close() };
}

/**
 * Removes bodies unless they are pinned. Where the folder is gone, or its file system has no locks, no process can have
 * pinned them.
 *
 * @returns whether it removed them
 */
export function whileUnpinned(folder: string, remove: () => void): boolean {
  const lock = lockAlone(folder);
  if (lock === "pinned") return false;
  try {
    remove();
  } finally {
    lock?.close();
  }
  return true;
}

function lockAlone(folder: string): Deno.FsFile | "pinned" | null {
  let bodies: Deno.FsFile;
  try {
    bodies = openBodies(folder);
  } catch (error) {
    // Where it cannot be opened for another reason, such as no free file descriptor, another process may have pinned
    // them.
    return error instanceof Deno.errors.NotFound ? null : "pinned";
  }
  try {
    if (bodies.tryLockSync(true)) return bodies;
    bodies.close();
    return "pinned";
  } catch {
    bodies.close();
    return null;
  }
}
