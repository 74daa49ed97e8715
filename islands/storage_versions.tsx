import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { ToolButton } from "@/components/icon.tsx";
import {
  type LineChange,
  VersionComparison,
  VersionList,
  type VersionPage,
} from "@/components/storage/object_versions.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { useMoments } from "@/lib/pages/browser/reader_moments_client.ts";
import { goToLogin } from "@/lib/pages/browser/session_client.ts";
import { callStorageApi } from "@/lib/pages/storage/storage_api_client.ts";
import { loadCode } from "@/lib/pages/browser/load_code_client.tsx";
import { formatMoment } from "@/lib/pages/moments.ts";
import { OBJECT_LABELS, OBJECT_SENTENCES, restoreProblem } from "@/lib/pages/storage/object_sentences.ts";
import { PREVIEW_BYTES } from "@/lib/pages/storage/preview/object_preview.ts";
import { readTextBeginning } from "@/lib/pages/storage/preview/text_beginning.ts";
import { downloadPath, type ObjectAddress, objectPath } from "@/lib/pages/storage/storage_paths.ts";

interface StorageVersionsProps {
  readonly address: ObjectAddress;
  readonly page: VersionPage;
  /** The object is shown as text, so that its versions can be compared. */
  readonly isText: boolean;
  /** False once the store is known to forbid it. */
  readonly canRestore: boolean;
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
}

/** Most changes of lines, and most time (ms) that comparing two texts takes: they may have nothing in common. */
const LIMITS = { maxEditLength: 10_000, timeout: 1000 };

/** The result of a comparison. */
type Comparison =
  | { readonly changes: readonly LineChange[]; readonly isCut: boolean }
  | { readonly problem: string };

/** A version that is compared with the current one; its result is null while it is read. */
interface Compared {
  readonly version: string;
  readonly changed: string | null;
  readonly result: Comparison | null;
}

/** The versions of an object; an older one can be made the current one, or compared with it where both are texts. */
export default island(
  "storage_versions",
  function StorageVersions({ address, page, isText, canRestore, renderedAt }: StorageVersionsProps) {
    const style = useMoments(renderedAt);
    const isBusy = useSignal(false);
    const isRefused = useSignal(!canRestore);
    const message = useSignal("");
    const problem = useSignal("");
    const compared = useSignal<Compared | null>(null);
    const dialog = useRef<HTMLDialogElement>(null);
    const current = page.versions.find(({ IsLatest, IsDeleteMarker }) => IsLatest && !IsDeleteMarker)?.VersionId ??
      null;
    const moment = (changed: string | null) => formatMoment(changed, style.value);

    const restore = async (version: string) => {
      const { account, bucket, key } = address;
      isBusy.value = true;
      problem.value = "";
      message.value = OBJECT_SENTENCES.restoring;
      const { status } = await callStorageApi("/buckets/:bucket/restore/:key", account, { bucket, key }, {
        method: "POST",
        json: { version_id: version },
      });
      isBusy.value = false;
      message.value = status === 200 ? OBJECT_SENTENCES.restored : "";
      if (status === 200) location.assign(objectPath({ account, bucket, key }));
      else problem.value = restoreProblem(status);
      if (status === 403) isRefused.value = true;
    };

    const compare = async (version: string, current: string, changed: string | null) => {
      compared.value = { version, changed, result: null };
      dialog.current?.showModal();
      const result = await comparison(address, version, current);
      // Another one may have been started meanwhile.
      if (compared.value?.version === version) compared.value = { version, changed, result };
    };

    const result = compared.value?.result ?? null;
    return (
      <>
        <VersionList
          address={address}
          page={page}
          style={style.value}
          controls={({ VersionId: id, LastModified: changed }) =>
            id !== null && (
              <p class="btns needs-scripts">
                {isText && current !== null && (
                  <button
                    type="button"
                    class="btn small"
                    aria-label={OBJECT_LABELS.compareOf(moment(changed))}
                    onClick={() => void compare(id, current, changed)}
                  >
                    {OBJECT_LABELS.compare}
                  </button>
                )}
                {!isRefused.value && (
                  <button
                    type="button"
                    class="btn small"
                    disabled={isBusy.value}
                    aria-label={OBJECT_LABELS.restoreOf(moment(changed))}
                    onClick={() => void restore(id)}
                  >
                    {OBJECT_LABELS.restore}
                  </button>
                )}
              </p>
            )}
        />
        <p class="remark" role="status">{message.value}</p>
        {problem.value !== "" && <p class="banner bad" role="alert">{problem.value}</p>}
        <dialog ref={dialog} class="compared" aria-labelledby="compared-heading">
          <header>
            <h3 id="compared-heading">{OBJECT_LABELS.comparedOf(moment(compared.value?.changed ?? null))}</h3>
            <ToolButton icon="close" name={OBJECT_LABELS.close} onClick={() => dialog.current?.close()} />
          </header>
          {result === null
            ? <p class="remark" role="status">{OBJECT_SENTENCES.comparing}</p>
            : "problem" in result
            ? <p class="banner bad" role="alert">{result.problem}</p>
            : <VersionComparison {...result} />}
        </dialog>
      </>
    );
  },
);

async function comparison(address: ObjectAddress, before: string, after: string): Promise<Comparison> {
  try {
    const [{ diffLines }, first, second] = await Promise.all([
      loadCode(() => import("diff")),
      readVersionText({ ...address, version: before }),
      readVersionText({ ...address, version: after }),
    ]);
    if (first === null || second === null) return { problem: OBJECT_SENTENCES.notText };
    const changes = diffLines(first.text, second.text, LIMITS);
    if (!changes) return { problem: OBJECT_SENTENCES.tooDifferent };
    return { changes, isCut: first.isCut || second.isCut };
  } catch {
    return { problem: OBJECT_SENTENCES.notCompared };
  }
}

/** The first part of a version as text. */
interface VersionText {
  readonly text: string;
  /** The version is longer. */
  readonly isCut: boolean;
}

/** Longest wait for the text of a version, ms. */
const READ_MS = 30_000;

/** Reads the first part of a version; null: it is not text. @throws Error where it cannot be read */
async function readVersionText(address: ObjectAddress): Promise<VersionText | null> {
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
