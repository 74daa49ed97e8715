/**
 * A text that differs when a file was replaced or edited. Mounted secrets are symbolic links that are replaced: a new
 * file differs in its inode, an edited one in its times.
 */
export function fileIdentity({ dev, ino, size, mtime, ctime }: Deno.FileInfo): string {
  return [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join();
}
