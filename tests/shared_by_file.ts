/**
 * What the tests of a file share. The first test that needs it starts it, and it is stopped behind the last test of the
 * module that is run: of the file, or of all the files that one worker runs. To be called while the file is loaded.
 *
 * @returns what is shared; a failed start is tried again by the next test
 */
export function sharedByFile<T>(start: () => Promise<T>, stop: (shared: T) => Promise<unknown>): () => Promise<T> {
  let shared: Promise<T> | null = null;
  Deno.test.afterAll(async () => {
    await shared?.then(stop);
  });
  return async () => {
    shared ??= start();
    try {
      return await shared;
    } catch (error) {
      shared = null;
      throw error;
    }
  };
}
