import { BODY_FOLDER } from "./bodies.ts";

/**
 * A lock of the kernel on the folder of bodies: whoever copies bodies shares it, whoever removes some must have it alone.
 * It goes with the process that holds it, so that a copy which is cut off holds nothing up.
 */
function openBodies(folder: string): Deno.FsFile {
  return Deno.openSync(`${folder}/${BODY_FOLDER}`, { read: true });
}

/**
 * Keeps every body that is there until the pin is released, deleted ones included: the store puts their removal off.
 * What an index names that is copied from now on can be read until then.
 */
export async function pinBodies(folder: string): Promise<{ release(): void }> {
  const bodies = openBodies(folder);
  await bodies.lock(false);
  return { release: () => bodies.close() };
}

/**
 * Removes bodies unless they are pinned. Answers whether it did. Where the folder is gone, or its file system has no locks,
 * nobody can have pinned them.
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
    // Where it cannot be opened for another reason, as without a free file descriptor, somebody may have pinned them.
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
