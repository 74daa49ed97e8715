import type { DoorAnswer } from "@/lib/client/storage/door.ts";
import { codedText } from "@/lib/presentation/coded_sentences.ts";
import { clip, member } from "@/lib/std/untrusted.ts";

const MAX_MESSAGE = 300;

/** What the gateway said about a request that failed; "" where it said nothing that could be shown. */
export function doorMessage({ json }: Pick<DoorAnswer, "json">): string {
  const detail = member(json, "detail");
  const said = typeof detail === "string" ? codedText(json, "detail") : codedText(detail, "error");
  return clip(said, MAX_MESSAGE);
}
