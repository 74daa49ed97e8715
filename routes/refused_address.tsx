import { LABELS } from "@/lib/presentation/page_sentences.ts";

/** The page of a viewer that does not open what its address names. */
export function RefusedAddress({ title, sentence }: { title: string; sentence: string }) {
  return (
    <>
      <div class="head">
        <h1>{title}</h1>
      </div>
      <p class="banner bad" role="alert">{sentence}</p>
      <p>
        <a href="/">{LABELS.toCampaigns}</a>
      </p>
    </>
  );
}
