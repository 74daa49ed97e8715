/** A test with a folder of its own, which is gone behind it. */
import { removeAtEnd } from "./remove_at_end.ts";
export function testInFolder(name: string, run: (folder: string) => Promise<void> | void): void {
  Deno.test(name, async () => {
    const folder = Deno.makeTempDirSync();
    using _removal = removeAtEnd(folder);
    await run(folder);
  });
}
