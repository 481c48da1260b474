/**
 * The Python that the extension writes into cells. Values are quoted, so that a hostile name stays a name.
 */

/** Code that shows the form of a tool; `profile` is named when it is not the one that notebooks use anyway. */
export function formCode(tool: string, profile: string | null = null): string {
  return `import foldnote as fn\n\nfn.form(${quote(tool)}${named(profile)})`;
}

/** Code that shows a job and its result. */
export function jobCode(name: string, profile: string | null = null): string {
  return `import foldnote as fn\n\n${jobValue(name, profile)}`;
}

/** Code that shows a form with the settings of a job, to be changed and submitted anew. */
export function againCode(name: string, profile: string | null = null): string {
  return `import foldnote as fn\n\nfn.form(${jobValue(name, profile)}${named(profile)})`;
}

/** A line that keeps jobs under a name. */
export function keptJobsLine(names: readonly string[], profile: string | null = null): string {
  return `${names.length === 1 ? 'job' : 'jobs'} = ${jobsValue(names, profile)}`;
}

/** A cell that keeps jobs under a name and shows a single one. */
export function keptJobsCell(names: readonly string[], profile: string | null = null): string {
  const shown = names.length === 1 ? '\njob' : '';
  return `import foldnote as fn\n\n${keptJobsLine(names, profile)}${shown}`;
}

/** Code that stands for several jobs. */
export function jobsValue(names: readonly string[], profile: string | null = null): string {
  const [name = ''] = names;
  return names.length === 1
    ? jobValue(name, profile)
    : `[${names.map(each => jobValue(each, profile)).join(', ')}]`;
}

/** Code that stands for a job. */
export function jobValue(name: string, profile: string | null = null): string {
  return `fn.job(${quote(name)}${named(profile)})`;
}

/** Code that stands for a file of a job's result, in a setting. */
export function jobFileCode(name: string, path: string, profile: string | null = null): string {
  return `${jobValue(name, profile)}.file(${quote(path)})`;
}

/** Code that stands for an uploaded file in a setting. */
export function fileCode(path: string): string {
  return `fn.uploaded(${quote(path)})`;
}

function named(profile: string | null): string {
  return profile === null ? '' : `, profile=${quote(profile)}`;
}

/** A Python string literal; JSON's escapes are a part of Python's. */
function quote(text: string): string {
  return JSON.stringify(text);
}
