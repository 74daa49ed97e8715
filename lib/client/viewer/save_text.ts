import { readingText } from "@/lib/presentation/alto/reading_text.ts";
import type { Canvas } from "@/lib/presentation/iiif/manifest.ts";
import type { PageTexts } from "./page_texts.ts";

/** Saves the text of a page as a file, as far as it is read. */
export function saveText(texts: PageTexts, canvas: Canvas): void {
  const text = texts.of(canvas)?.peek();
  if (text?.kind !== "text") return;
  const href = URL.createObjectURL(new Blob([readingText(text.page)], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = href;
  link.download = `${canvas.label}.txt`;
  link.click();
  // The browser has the file by the next task.
  setTimeout(() => URL.revokeObjectURL(href), 0);
}
