/** A thread that renders the images of the archive, one at a time. */
import { ownPort } from "@/embedded/threads.ts";
import { PageRenderer, type RenderTask } from "./page_renderer.ts";

/** A message of the thread, one for each task. */
export type Rendered = { readonly image: Uint8Array<ArrayBuffer> } | { readonly failed: string };

const port = await ownPort();
const renderer = new PageRenderer();

port.onmessage = ({ data }: MessageEvent<RenderTask>) => {
  try {
    const image = renderer.render(data);
    port.postMessage({ image } satisfies Rendered, [image.buffer]);
  } catch (error) {
    port.postMessage({ failed: error instanceof Error ? error.message : String(error) } satisfies Rendered);
  }
};
