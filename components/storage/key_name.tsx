import { nameParts } from "@/lib/pages/storage/key_names.ts";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";

/** A key or a part of one, isolated from the direction of the text around it, with what cannot be seen written out. */
export function KeyName({ name }: { name: string }) {
  if (name === "" || name === "/") return <bdi class="stand-in">{STORAGE_LABELS.emptyName}{name}</bdi>;
  return (
    <bdi>
      {nameParts(name).map(({ text, isStandIn }, index) =>
        isStandIn ? <span key={index} class="stand-in">{text}</span> : text
      )}
    </bdi>
  );
}
