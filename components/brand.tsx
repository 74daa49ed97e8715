/** The product's mark and name. */
export function Brand() {
  return (
    <>
      <svg class="mark" width="22" height="22" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
        <path d="M2 2h4v13H2zM8 4h3v11H8zM13.2 3.6l3-.8 3 11.6-3 .8zM1 16.5h18V18H1z" fill="currentColor" />
      </svg>
      <span>Stackroom</span>
    </>
  );
}
