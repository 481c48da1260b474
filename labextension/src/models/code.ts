/**
 * The Python that the extension writes into cells. Values are quoted, so that a hostile name stays a name.
 */

/** Code that shows the form of a tool. */
export function formCode(tool: string): string {
  return `import foldnote as fn\n\nfn.form(${quote(tool)})`;
}

/** Code that shows a job and its result. */
export function jobCode(name: string): string {
  return `import foldnote as fn\n\nfn.job(${quote(name)})`;
}

/** A Python string literal; JSON's escapes are a part of Python's. */
function quote(text: string): string {
  return JSON.stringify(text);
}
