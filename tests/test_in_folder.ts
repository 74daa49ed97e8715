/** A test with a folder of its own, which is gone behind it. */
export function testInFolder(name: string, run: (folder: string) => Promise<void> | void): void {
  Deno.test(name, async () => {
    const folder = Deno.makeTempDirSync();
    try {
      await run(folder);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  });
}
