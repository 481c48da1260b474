/** The Python that is written into cells. What it does when it runs is tested in JupyterLab. */
import {
  rerunCode,
  compareCode,
  fileCode,
  formCode,
  jobCode,
  jobFileCode,
  jobsExpression,
  jobExpression,
  jobsCell,
  jobsAssignment,
  resultAssignment
} from '../src/models/service/code';
import { forSeeds } from './random';

const IMPORT = 'import foldnote as fn\n\n';

describe('code for a form', () => {
  it('names the profile only if one is given', () => {
    expect(formCode('anarci')).toBe(`${IMPORT}fn.form("anarci")`);
    expect(formCode('anarci', 'lab')).toBe(`${IMPORT}fn.form("anarci", profile="lab")`);
  });

  it('starts from the settings of a job, also of another member’s job', () => {
    expect(rerunCode('fold')).toBe(`${IMPORT}fn.form(fn.job("fold"))`);
    expect(rerunCode('fold', 'lab')).toBe(`${IMPORT}fn.form(fn.job("fold", profile="lab"), profile="lab")`);
    expect(rerunCode('fold', 'lab', 'a@x')).toBe(
      `${IMPORT}job = fn.Client("lab").jobs.record("fold", job_email="a@x")\n` +
        'fn.form(job.tool_type, **job.settings, profile="lab")'
    );
    expect(rerunCode('fold', null, 'a@x')).toContain('fn.Client().jobs.record(');
    expect(rerunCode('steps', 'lab', null, true)).toBe(
      `${IMPORT}run = fn.job("steps", profile="lab")\nrun.edit_settings()\nrun`
    );
  });
});

describe('code for a job', () => {
  it.each([
    [jobCode('fold'), 'fn.job("fold")'],
    [jobCode('fold', 'lab'), 'fn.job("fold", profile="lab")'],
    [jobCode('screen', null, null, true), 'fn.batch("screen")'],
    [jobCode('fold', 'lab', 'a@x'), 'fn.open_result(fn.Client("lab").jobs.download("fold", job_email="a@x"))'],
    [jobCode('fold', null, 'a@x'), 'fn.open_result(fn.Client().jobs.download("fold", job_email="a@x"))']
  ])('displays it: %s', (code, value) => {
    expect(code).toBe(IMPORT + value);
  });

  it('refers to one job or to several', () => {
    expect(jobExpression('a', null, true)).toBe('fn.batch("a")');
    expect(jobsExpression(['a'])).toBe('fn.job("a")');
    expect(jobsExpression(['a', 'b'], 'lab')).toBe('[fn.job("a", profile="lab"), fn.job("b", profile="lab")]');
  });

  it('compares jobs', () => {
    expect(compareCode(['a', 'b'])).toBe(`${IMPORT}fn.compare("a", "b")`);
    expect(compareCode(['a', 'q"'], 'lab')).toBe(`${IMPORT}fn.compare("a", "q\\"", profile="lab")`);
  });

  it('assigns one job to a variable and displays it, and assigns several without displaying them', () => {
    expect(jobsAssignment(['a'])).toBe('job = fn.job("a")');
    expect(jobsAssignment(['a', 'b'])).toBe('jobs = [fn.job("a"), fn.job("b")]');
    expect(jobsCell(['a'])).toBe(`${IMPORT}job = fn.job("a")\njob`);
    expect(jobsCell(['a', 'b'])).toBe(`${IMPORT}jobs = [fn.job("a"), fn.job("b")]`);
    expect(resultAssignment('a', 'm@x', 'lab')).toBe(
      'result = fn.open_result(fn.Client("lab").jobs.download("a", job_email="m@x"))'
    );
  });
});

describe('code for a file', () => {
  it('refers to an upload, a file of a result, or a file of another member’s result', () => {
    expect(fileCode('set/a.pdb')).toBe('fn.uploaded("set/a.pdb")');
    expect(jobFileCode('fold', 'model.pdb', 'lab')).toBe('fn.job("fold", profile="lab").file("model.pdb")');
    expect(jobFileCode('fold', 'model.pdb', null, 'a@x')).toBe(
      'fn.Client().jobs.download("fold", "model.pdb", job_email="a@x")'
    );
  });
});

it('any name becomes one string literal that evaluates to that name', () => {
  forSeeds(random => {
    const name = random.text(30);
    const [, literal = ''] = /^fn\.job\((.*)\)$/s.exec(jobExpression(name)) ?? [];
    expect(JSON.parse(literal)).toBe(name);
    expect(literal).not.toContain('\n');
  });
});
