import type { ViewerStore } from "@/lib/client/viewer/viewer_store.ts";
import { VIEWER_LABELS } from "@/lib/presentation/viewer_sentences.ts";

/** Where a page has several images of the same place, the choice between them; nothing where it has none. */
export function ImageChoices({ store }: { store: ViewerStore }) {
  const canvases = store.manifest.value?.canvases ?? [];
  const choices = store.shown.value.flatMap((index) =>
    canvases[index].images.flatMap(({ choices }, painting) => choices.length > 1 ? [{ index, painting, choices }] : [])
  );
  if (choices.length === 0) return null;
  return (
    <div class="image-choices">
      {choices.map(({ index, painting, choices }) => (
        <label key={`${index} ${painting}`}>
          <span>{VIEWER_LABELS.image(store.shown.value.length > 1 ? canvases[index].label : null)}</span>
          <select
            value={String(store.chosen(index, painting))}
            onChange={({ currentTarget }) => store.choose(index, painting, Number(currentTarget.value))}
          >
            {choices.map(({ label }, place) => (
              <option key={place} value={String(place)}>{label ?? VIEWER_LABELS.imageNumber(place + 1)}</option>
            ))}
          </select>
        </label>
      ))}
    </div>
  );
}
