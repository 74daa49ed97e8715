import { goToLogin } from "@/lib/client/session.ts";
import { PREVIEW_BYTES } from "@/lib/presentation/storage/preview/object_preview.ts";
import { readTextBeginning } from "@/lib/presentation/storage/preview/text_beginning.ts";
import { downloadPath, type ObjectAddress } from "@/lib/presentation/storage/storage_paths.ts";

/** The beginning of a version as text. */
interface VersionText {
  readonly text: string;
  /** The version is longer. */
  readonly isCut: boolean;
}

/** Longest wait for the beginning of a version, ms. */
const READ_MS = 30_000;

/** Reads the beginning of a version; null for what is no text. @throws Error where it cannot be read */
export async function readVersionText(address: ObjectAddress): Promise<VersionText | null> {
  const response = await fetch(downloadPath(address), {
    headers: { Range: `bytes=0-${PREVIEW_BYTES - 1}` },
    signal: AbortSignal.timeout(READ_MS),
  });
  const { status, headers } = response;
  if (status === 401) goToLogin();
  // An empty object has no range.
  if (status === 416) return { text: "", isCut: false };
  if (status !== 206 || headers.has("Content-Encoding")) {
    await response.body?.cancel();
    throw new Error(`the store answered ${status}`);
  }
  const total = Number(/\/(\d+)$/.exec(headers.get("Content-Range") ?? "")?.[1] ?? 0);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isCut = total > bytes.length;
  const beginning = readTextBeginning(bytes, isCut);
  return beginning && { text: beginning.text, isCut };
}
