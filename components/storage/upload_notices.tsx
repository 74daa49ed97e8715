import { type ChosenFiles, MAX_FILES } from "@/lib/client/storage/upload/dropped_files.ts";
import type { UploadEngine } from "@/lib/client/storage/upload/upload_engine.ts";
import type { UploadsStore } from "@/lib/client/storage/upload/uploads_store.ts";
import { plainName } from "@/lib/presentation/storage/key_names.ts";
import { loginPath } from "@/lib/presentation/page_paths.ts";
import { faultSentence, UPLOAD_LABELS, UPLOAD_NOTICES } from "@/lib/presentation/storage/upload_sentences.ts";
import { Notice } from "./notice.tsx";

/** Names in use that are listed. */
const NAMED = 3;

interface TakenQuestionProps {
  readonly engine: Pick<UploadEngine, "items" | "answer">;
}

/** The question what happens to names in use: one answer for all. */
export function TakenQuestion({ engine }: TakenQuestionProps) {
  const taken = engine.items.filter(({ state }) => state === "taken");
  if (taken.length === 0) return null;
  const named = taken.slice(0, NAMED);
  return (
    <Notice tone="warn" isUrgent>
      <p>{UPLOAD_NOTICES.taken(named.map(({ path }) => plainName(path)).join(", "), taken.length - named.length)}</p>
      <button class="btn" type="button" onClick={() => engine.answer("replace")}>{UPLOAD_LABELS.replace}</button>
      <button class="btn" type="button" onClick={() => engine.answer("keep both")}>{UPLOAD_LABELS.keepBoth}</button>
      <button class="btn" type="button" onClick={() => engine.answer("skip")}>{UPLOAD_LABELS.skip}</button>
    </Notice>
  );
}

interface UploadNoticesProps {
  readonly store: Pick<UploadsStore, "allowing" | "allowDirect"> & {
    readonly engine: Pick<UploadEngine, "halted" | "isAway" | "routes" | "resume">;
  };
  readonly bucket: string;
}

/** What has stopped everything, what the network does, and which way the bytes go. */
export function UploadNotices({ store, bucket }: UploadNoticesProps) {
  const { engine } = store;
  const { halted } = engine;
  const route = engine.routes.get(bucket);
  return (
    <>
      {halted && (
        <Notice tone="bad" isUrgent={halted.kind !== "outdated"}>
          <p>{faultSentence({ kind: halted.kind, detail: halted.detail, sent: "" })}</p>
          {halted.kind === "session" && (
            <a class="btn" href={loginPath("/storage")} target="_blank">{UPLOAD_LABELS.logIn}</a>
          )}
          {/* An outdated page has a banner, an alert with the button that reloads it. */}
          {halted.kind !== "outdated" && (
            <button class="btn" type="button" onClick={() => engine.resume()}>{UPLOAD_LABELS.goOn}</button>
          )}
        </Notice>
      )}
      {engine.isAway && <Notice tone="warn">{UPLOAD_NOTICES.away}</Notice>}
      {route === "no rules" && <Notice>{UPLOAD_NOTICES.noRules}</Notice>}
      {route === "forbidden" && <Notice>{UPLOAD_NOTICES.forbidden(bucket)}</Notice>}
      {route === "unreachable" && <Notice>{UPLOAD_NOTICES.unreachable}</Notice>}
      {route === "blocked" && (
        <Notice>
          <p>{store.allowing.value === "failed" ? UPLOAD_NOTICES.notAllowed : UPLOAD_NOTICES.blocked(bucket)}</p>
          <button
            class="btn"
            type="button"
            disabled={store.allowing.value === "yes"}
            onClick={() => void store.allowDirect()}
          >
            {store.allowing.value === "yes" ? UPLOAD_LABELS.allowing : UPLOAD_LABELS.allow}
          </button>
        </Notice>
      )}
    </>
  );
}

/** What could not be taken of the last choice. */
export function ChoiceNotices({ chosen }: { readonly chosen: ChosenFiles | null }) {
  if (!chosen) return null;
  return (
    <>
      {chosen.files.length === 0 && <Notice tone="warn">{UPLOAD_NOTICES.empty}</Notice>}
      {chosen.isCut && <Notice tone="warn">{UPLOAD_NOTICES.cut(MAX_FILES)}</Notice>}
      {chosen.unreadable > 0 && <Notice tone="warn">{UPLOAD_NOTICES.unreadable(chosen.unreadable)}</Notice>}
    </>
  );
}
