/**
 * Python code that the extension writes into cells. Values are quoted, so that names cannot inject code.
 */

/** Code that shows the form of a tool; `profile` is given if it is not the one that notebooks use. */
export function formCode(tool: string, profile: string | null = null): string {
  return `import foldnote as fn\n\nfn.form(${quote(tool)}${profileArgument(profile)})`;
}

/** Code of the example: it numbers trastuzumab's heavy chain, which takes seconds if ANARCI is installed. */
export function exampleCode(profile: string | null = null): string {
  return [
    '# foldnote: a first job. Submit the form; its result appears below it. See fn.tools() for all tools.',
    'import foldnote as fn',
    '',
    'heavy = (',
    '    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYC"',
    '    "SRWGGDGFYAMDYWGQGTLVTVSS"',
    ')  # trastuzumab, heavy chain, variable domain',
    `fn.form("anarci", sequence=heavy${profileArgument(profile)})`
  ].join('\n');
}

/**
 * Code that shows a job and its result; for another member's job, only the result.
 *
 * @param member - address of the organization's member who owns the job; null for your own
 * @param isBatch - whether it is a batch parent
 */
export function jobCode(
  name: string,
  profile: string | null = null,
  member: string | null = null,
  isBatch = false
): string {
  const expression =
    member === null ? jobExpression(name, profile, isBatch) : memberResultExpression(name, member, profile);
  return `import foldnote as fn\n\n${expression}`;
}

/** Code to change the settings of a job and submit it again: a form for a job, the next cell for a pipeline. */
export function rerunCode(
  name: string,
  profile: string | null = null,
  member: string | null = null,
  isPipeline = false
): string {
  if (member === null && isPipeline) {
    return `import foldnote as fn\n\nrun = ${jobExpression(name, profile)}\nrun.edit_settings()\nrun`;
  }
  if (member === null) {
    return `import foldnote as fn\n\nfn.form(${jobExpression(name, profile)}${profileArgument(profile)})`;
  }
  const record = `${clientJobs(profile)}.record(${quote(name)}, job_email=${quote(member)})`;
  return `import foldnote as fn\n\njob = ${record}\nfn.form(job.tool_type, **job.settings${profileArgument(profile)})`;
}

/** Code that shows the job behind a colleague's link. */
export function sharedCode(url: string): string {
  return `import foldnote as fn\n\nshared = fn.open_shared(${quote(url)})\nshared`;
}

/** Code that writes a file of a shared result to a folder named like the job. */
export function sharedFileCode(url: string, path: string): string {
  return `import foldnote as fn\n\nshared = fn.open_shared(${quote(url)})\nshared.result.save_to(shared.job_name, [${quote(path)}])`;
}

/** A line that assigns the result of another member's job to a variable. */
export function resultAssignment(name: string, member: string, profile: string | null = null): string {
  return `result = ${memberResultExpression(name, member, profile)}`;
}

/** A line that assigns jobs to a variable. */
export function jobsAssignment(names: readonly string[], profile: string | null = null): string {
  return `${names.length === 1 ? 'job' : 'jobs'} = ${jobsExpression(names, profile)}`;
}

/** A cell that assigns jobs to a variable, and shows a single one. */
export function jobsCell(names: readonly string[], profile: string | null = null): string {
  const display = names.length === 1 ? '\njob' : '';
  return `import foldnote as fn\n\n${jobsAssignment(names, profile)}${display}`;
}

/** Code that shows a comparison of jobs; the first one is the reference. */
export function compareCode(names: readonly string[], profile: string | null = null): string {
  return `import foldnote as fn\n\nfn.compare(${names.map(quote).join(', ')}${profileArgument(profile)})`;
}

/** An expression for several jobs. */
export function jobsExpression(names: readonly string[], profile: string | null = null): string {
  const [name = ''] = names;
  return names.length === 1
    ? jobExpression(name, profile)
    : `[${names.map(jobName => jobExpression(jobName, profile)).join(', ')}]`;
}

/** An expression for a job or a batch. */
export function jobExpression(name: string, profile: string | null = null, isBatch = false): string {
  return `fn.${isBatch ? 'batch' : 'job'}(${quote(name)}${profileArgument(profile)})`;
}

/** An expression for a file of a job's result as a setting. */
export function jobFileCode(
  name: string,
  path: string,
  profile: string | null = null,
  member: string | null = null
): string {
  return member === null
    ? `${jobExpression(name, profile)}.file(${quote(path)})`
    : `${clientJobs(profile)}.download(${quote(name)}, ${quote(path)}, job_email=${quote(member)})`;
}

/** An expression for an uploaded file as a setting. */
export function fileCode(path: string): string {
  return `fn.uploaded(${quote(path)})`;
}

function memberResultExpression(name: string, member: string, profile: string | null): string {
  return `fn.open_result(${clientJobs(profile)}.download(${quote(name)}, job_email=${quote(member)}))`;
}

function clientJobs(profile: string | null): string {
  return `fn.Client(${profile === null ? '' : quote(profile)}).jobs`;
}

function profileArgument(profile: string | null): string {
  return profile === null ? '' : `, profile=${quote(profile)}`;
}

/** A Python string literal; JSON's escapes are a subset of Python's. */
function quote(text: string): string {
  return JSON.stringify(text);
}
