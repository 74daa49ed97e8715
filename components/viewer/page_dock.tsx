import { useLayoutEffect, useRef } from "preact/hooks";

import { Icon } from "@/components/icon.tsx";
import { VIEWER_LABELS } from "@/lib/presentation/viewer_sentences.ts";
import { PanelButtons, type PanelButtonsProps } from "./panel_buttons.tsx";
import { ToolButton } from "@/components/tool_button.tsx";

interface PageDockProps {
  /** Numbers of the pages that are shown, from 1, in reading order. */
  readonly numbers: readonly number[];
  readonly count: number;
  readonly isRightToLeft: boolean;
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
  /** Percent of the image's own pixels; null: not known. */
  readonly zoom: number | null;
  readonly isSpread: boolean;
  readonly canFullScreen: boolean;
  readonly onPrevious: () => void;
  readonly onNext: () => void;
  readonly onNumber: (number: number) => void;
  readonly onZoom: (direction: "in" | "out") => void;
  readonly onWholePage: () => void;
  readonly onRotate: () => void;
  readonly onFullScreen: () => void;
  readonly onSpread: () => void;
  /** Shown here on a phone alone. */
  readonly panels: PanelButtonsProps;
}

/** The controls of the page and of the view, below the image. */
export function PageDock(props: PageDockProps) {
  const { numbers, count, isRightToLeft, zoom } = props;
  const field = useRef<HTMLInputElement>(null);
  // Another page replaces what was typed. The field itself stays, and the focus in it.
  useLayoutEffect(() => {
    if (!field.current) return;
    field.current.value = numbers.join("–");
    if (field.current === document.activeElement) field.current.select();
  }, [numbers.join()]);
  const previous = { name: VIEWER_LABELS.previousPage, disabled: !props.hasPrevious, onClick: props.onPrevious };
  const next = { name: VIEWER_LABELS.nextPage, disabled: !props.hasNext, onClick: props.onNext };
  const [left, right] = isRightToLeft ? [next, previous] : [previous, next];
  return (
    <div class="dock" role="toolbar" aria-label={VIEWER_LABELS.pageAndView}>
      <ToolButton icon="previous" shortcut="←" {...left} />
      <form
        class="number"
        onSubmit={(event) => {
          event.preventDefault();
          if (field.current) goToNumber(field.current, props);
        }}
      >
        <label>
          <span class="sr">{VIEWER_LABELS.page}</span>
          <input
            ref={field}
            inputMode="numeric"
            autocomplete="off"
            maxLength={6}
            size={Math.max(3, String(count).length, numbers.join("–").length)}
            defaultValue={numbers.join("–")}
            onFocus={(event) => event.currentTarget.select()}
            onBlur={(event) => goToNumber(event.currentTarget, props)}
          />
          <span>{VIEWER_LABELS.ofPages(count)}</span>
        </label>
      </form>
      <ToolButton icon="next" shortcut="→" {...right} />
      <hr />
      <ToolButton icon="minus" name={VIEWER_LABELS.zoomOut} shortcut="−" onClick={() => props.onZoom("out")} />
      <button class="btn zoom" type="button" title={`${VIEWER_LABELS.wholePage} (0)`} onClick={props.onWholePage}>
        <Icon name="wholePage" />
        <span class="sr">{VIEWER_LABELS.zoomIs}</span> <span class="percent">{zoom === null ? "–" : `${zoom} %`}</span>
      </button>
      <ToolButton icon="plus" name={VIEWER_LABELS.zoomIn} shortcut="+" onClick={() => props.onZoom("in")} />
      <hr />
      <ToolButton icon="rotate" name={VIEWER_LABELS.rotate} shortcut="R" onClick={props.onRotate} />
      {count > 1 && (
        <ToolButton icon="spread" name={VIEWER_LABELS.sideBySide} pressed={props.isSpread} onClick={props.onSpread} />
      )}
      {props.canFullScreen && (
        <ToolButton icon="fullScreen" name={VIEWER_LABELS.fullScreen} shortcut="F" onClick={props.onFullScreen} />
      )}
      <span class="sheets">
        <PanelButtons {...props.panels} />
      </span>
    </div>
  );
}

/** Goes to the page whose number is in a field; what is no number of a page is put back. */
function goToNumber(field: HTMLInputElement, { numbers, count, onNumber }: PageDockProps): void {
  const number = /^\s*(\d+)/.exec(field.value)?.[1];
  const wanted = number === undefined ? numbers[0] : Math.max(1, Math.min(count, Number(number)));
  if (numbers.includes(wanted)) field.value = numbers.join("–");
  else onNumber(wanted);
}
