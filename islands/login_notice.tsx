import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { island } from "@/lib/pages/browser/island.tsx";
import { zoneOfReader } from "@/lib/pages/browser/reader_moments_client.ts";
import { type LoginMoment, loginMomentSentence } from "@/lib/pages/login_sentences.ts";

type LoginNoticeProps = LoginMoment & {
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
};

/**
 * When a login is possible again, or when the session ended. The server writes a span, the browser the reader's clock,
 * which stays true while the page is open.
 */
export default island("login_notice", function LoginNotice({ kind, at, account, renderedAt }: LoginNoticeProps) {
  const sentence = useSignal(loginMomentSentence({ kind, at, account }, renderedAt, null));
  useEffect(() => {
    // A wait is counted by this browser's clock, which may differ from the server's.
    const here = kind === "locked" ? at + Date.now() - renderedAt : at;
    const show = () => sentence.value = loginMomentSentence({ kind, at: here, account }, Date.now(), zoneOfReader());
    show();
    if (kind === "ended") return;
    const timer = setTimeout(show, Math.max(0, here - Date.now()));
    return () => clearTimeout(timer);
  }, []);
  return <span>{sentence}</span>;
});
