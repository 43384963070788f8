// On a narrow screen the pages of a group are one line that scrolls: begin where one is.

const current = document.querySelector(".tabs [aria-current]");
if (current) {
  const { parentElement: line } = current;
  line.scrollLeft = current.offsetLeft - line.offsetLeft - (line.clientWidth - current.offsetWidth) / 2;
}
