/**
 * The Python that the extension writes into cells. Values are quoted, so that a hostile name stays a name.
 */

/** Code that shows the form of a tool; `profile` is named when it is not the one that notebooks use anyway. */
export function formCode(tool: string, profile: string | null = null): string {
  return `import foldnote as fn\n\nfn.form(${quote(tool)}${named(profile)})`;
}

/**
 * Code that shows a job and its result; of a job of another member, the result.
 *
 * @param member - address of the member of the organization whose job it is; null for one's own
 * @param isBatch - whether it is the parent of a batch
 */
export function jobCode(
  name: string,
  profile: string | null = null,
  member: string | null = null,
  isBatch = false
): string {
  const value = member === null ? jobValue(name, profile, isBatch) : memberResult(name, member, profile);
  return `import foldnote as fn\n\n${value}`;
}

/** Code that shows a form with the settings of a job, to be changed and submitted anew. */
export function againCode(name: string, profile: string | null = null, member: string | null = null): string {
  if (member === null) {
    return `import foldnote as fn\n\nfn.form(${jobValue(name, profile)}${named(profile)})`;
  }
  const record = `${jobsOf(profile)}.record(${quote(name)}, job_email=${quote(member)})`;
  return `import foldnote as fn\n\njob = ${record}\nfn.form(job.tool_type, **job.settings${named(profile)})`;
}

/** A line that keeps the result of another member's job under a name. */
export function keptResultLine(name: string, member: string, profile: string | null = null): string {
  return `result = ${memberResult(name, member, profile)}`;
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
  return names.length === 1 ? jobValue(name, profile) : `[${names.map(each => jobValue(each, profile)).join(', ')}]`;
}

/** Code that stands for a job or a batch. */
export function jobValue(name: string, profile: string | null = null, isBatch = false): string {
  return `fn.${isBatch ? 'batch' : 'job'}(${quote(name)}${named(profile)})`;
}

/** Code that stands for a file of a job's result, in a setting. */
export function jobFileCode(
  name: string,
  path: string,
  profile: string | null = null,
  member: string | null = null
): string {
  return member === null
    ? `${jobValue(name, profile)}.file(${quote(path)})`
    : `${jobsOf(profile)}.download(${quote(name)}, ${quote(path)}, job_email=${quote(member)})`;
}

/** Code that stands for an uploaded file in a setting. */
export function fileCode(path: string): string {
  return `fn.uploaded(${quote(path)})`;
}

function memberResult(name: string, member: string, profile: string | null): string {
  return `fn.open_result(${jobsOf(profile)}.download(${quote(name)}, job_email=${quote(member)}))`;
}

function jobsOf(profile: string | null): string {
  return `fn.Client(${profile === null ? '' : quote(profile)}).jobs`;
}

function named(profile: string | null): string {
  return profile === null ? '' : `, profile=${quote(profile)}`;
}

/** A Python string literal; JSON's escapes are a part of Python's. */
function quote(text: string): string {
  return JSON.stringify(text);
}
