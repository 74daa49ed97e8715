import { readingText } from "@/lib/presentation/alto/reading_text.ts";
import type { Canvas } from "@/lib/presentation/iiif/manifest.ts";
import type { PageTexts } from "./page_texts.ts";

/** Saves the text of a page as a file, once it is read. @returns false where it cannot be read */
export async function saveText(texts: PageTexts, canvas: Canvas): Promise<boolean> {
  const text = await texts.whenRead(canvas);
  if (text?.kind !== "text") return false;
  const href = URL.createObjectURL(new Blob([readingText(text.page)], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = href;
  link.download = `${canvas.label}.txt`;
  link.click();
  // The browser has the file by the next task.
  setTimeout(() => URL.revokeObjectURL(href), 0);
  return true;
}
