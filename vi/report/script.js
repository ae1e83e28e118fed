"use strict";
// A button below each table copies it, with tabs between its cells.
for (const table of document.querySelectorAll("table")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy the table";
  button.title = "With tabs between its cells, for a spreadsheet";
  button.addEventListener("click", () => {
    const text = Array.from(table.rows, row => Array.from(row.cells, cell => cell.textContent).join("\t")).join("\n");
    const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy the table"; }, 1500); };
    const byHand = () => {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const ok = document.execCommand("copy");
      area.remove();
      if (ok) done();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
    else byHand();
  });
  table.parentElement.after(button);
}
