// Says so while Forebay does not answer what the page asks for by itself.
(() => {
  const tell = (isGone) => {
    const notice = document.getElementById("gone");
    if (notice) notice.hidden = !isGone;
  };
  document.addEventListener("htmx:error", () => tell(true));
  document.addEventListener("htmx:response:error", () => tell(true));
  document.addEventListener("htmx:after:swap", () => tell(false));
})();
