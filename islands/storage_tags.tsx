import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { SmallButton } from "@/components/chip.tsx";
import { ToolButton } from "@/components/icon.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { callStorageApi } from "@/lib/pages/storage/storage_api_client.ts";
import { MAX_TAGS, type ObjectTag, typedTags } from "@/lib/pages/storage/typed_tags.ts";
import type { ObjectAddress } from "@/lib/pages/storage/storage_paths.ts";
import { TAG_LABELS, TAG_SENTENCES, tagProblem } from "@/lib/pages/storage/object_sentences.ts";

interface StorageTagsProps {
  readonly address: ObjectAddress;
  readonly tags: readonly ObjectTag[];
  /** False once the store is known to forbid it. */
  readonly canChange: boolean;
}

const OPERATION = "/buckets/:bucket/tags/:key";

/** The tags of an object, which can be changed: all of them are replaced at once, as the store does it. */
export default island("storage_tags", function StorageTags({ address, tags, canChange }: StorageTagsProps) {
  const stored = useSignal(tags);
  const rows = useSignal<readonly ObjectTag[] | null>(null);
  const isBusy = useSignal(false);
  const isRefused = useSignal(!canChange);
  const message = useSignal("");
  const problem = useSignal("");
  const form = useRef<HTMLFormElement>(null);
  const editButton = useRef<HTMLButtonElement>(null);
  const isEditing = rows.value !== null;

  useEffect(() => {
    if (isEditing) form.current?.querySelector("input")?.focus();
  }, [isEditing]);

  const edit = () => {
    message.value = "";
    rows.value = stored.value.length === 0 ? [["", ""]] : stored.value;
  };
  const close = () => {
    rows.value = null;
    problem.value = "";
    queueMicrotask(() => editButton.current?.focus());
  };
  const change = (at: number, tag: ObjectTag | null) => {
    rows.value = (rows.value ?? []).flatMap((row, index) => index !== at ? [row] : tag === null ? [] : [tag]);
  };

  const save = async (event: Event) => {
    event.preventDefault();
    const typed = typedTags(rows.value ?? []);
    problem.value = typed === null ? TAG_SENTENCES.twice : "";
    if (typed === null) return;
    isBusy.value = true;
    const { account, bucket, key, version } = address;
    const parameters = { bucket, key, version_id: version };
    const written = Object.entries(typed);
    const { status } = await callStorageApi(
      OPERATION,
      account,
      parameters,
      written.length === 0 ? { method: "DELETE" } : { method: "PUT", json: { tags: typed } },
    );
    isBusy.value = false;
    if (status !== 200) {
      problem.value = tagProblem(status);
      isRefused.value = status === 403 || status === 501;
      if (isRefused.value) rows.value = null;
      return;
    }
    stored.value = written;
    message.value = TAG_SENTENCES.saved;
    close();
  };

  return (
    <>
      {rows.value === null
        ? (
          <>
            {stored.value.length === 0 ? <p class="remark">{TAG_SENTENCES.none}</p> : (
              <dl class="facts">
                {stored.value.map(([name, value]) => (
                  <div key={name}>
                    <dt>
                      <bdi>{name}</bdi>
                    </dt>
                    <dd>
                      <bdi>{value}</bdi>
                    </dd>
                  </div>
                ))}
              </dl>
            )}
            {!isRefused.value && (
              <p class="btns needs-scripts">
                <button ref={editButton} type="button" class="btn small" onClick={edit}>{TAG_LABELS.edit}</button>
              </p>
            )}
          </>
        )
        : (
          <form ref={form} class="tag-form" onSubmit={save}>
            {rows.value.map(([name, value], index) => (
              <p key={index}>
                <input
                  value={name}
                  maxLength={128}
                  placeholder={TAG_LABELS.nameHint}
                  aria-label={TAG_LABELS.name(index + 1)}
                  onInput={({ currentTarget }) => change(index, [currentTarget.value, value])}
                />
                <input
                  value={value}
                  maxLength={256}
                  placeholder={TAG_LABELS.valueHint}
                  aria-label={TAG_LABELS.value(index + 1)}
                  onInput={({ currentTarget }) => change(index, [name, currentTarget.value])}
                />
                <ToolButton icon="close" name={TAG_LABELS.removeRow(index + 1)} onClick={() => change(index, null)} />
              </p>
            ))}
            <p class="btns">
              {rows.value.length < MAX_TAGS && (
                <SmallButton
                  label={TAG_LABELS.add}
                  onClick={() => rows.value = [...rows.value ?? [], ["", ""]]}
                />
              )}
              <button type="submit" class="btn small" disabled={isBusy.value}>{TAG_LABELS.save}</button>
              <SmallButton label={TAG_LABELS.cancel} onClick={close} />
            </p>
          </form>
        )}
      <p class="remark" role="status">{message.value}</p>
      {problem.value !== "" && <p class="banner bad" role="alert">{problem.value}</p>}
    </>
  );
});
