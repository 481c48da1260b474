/** What the title of the browser's tab counts, and when it stops. */
import { TitleCount } from '../src/titleCount';

let isFocused = false;

/** The title after whoever observes it has heard of the last change. */
async function settledTitle(): Promise<string> {
  await new Promise(resolve => setTimeout(resolve));
  return document.title;
}

describe('TitleCount', () => {
  const count = new TitleCount();

  beforeEach(() => {
    vi.spyOn(document, 'hasFocus').mockImplementation(() => isFocused);
    isFocused = false;
    document.title = 'first.ipynb - JupyterLab';
  });

  afterEach(() => {
    count.clear();
    vi.restoreAllMocks();
  });

  it('adds up events while the page has no focus, and is cleared by focus', async () => {
    count.add(0);
    expect(document.title).toBe('first.ipynb - JupyterLab');
    count.add(1);
    count.add(2);
    expect(await settledTitle()).toBe('(3) first.ipynb - JupyterLab');
    window.dispatchEvent(new Event('focus'));
    expect(document.title).toBe('(3) first.ipynb - JupyterLab');
    isFocused = true;
    window.dispatchEvent(new Event('focus'));
    expect(await settledTitle()).toBe('first.ipynb - JupyterLab');
    isFocused = false;
    count.add(1);
    expect(await settledTitle()).toBe('(1) first.ipynb - JupyterLab');
  });

  it('counts nothing while the page has the focus', () => {
    isFocused = true;
    count.add(2);
    expect(document.title).toBe('first.ipynb - JupyterLab');
  });

  it('appears once before any title that JupyterLab sets meanwhile', async () => {
    count.add(2);
    document.title = '(2) second.ipynb - JupyterLab';
    expect(await settledTitle()).toBe('(2) second.ipynb - JupyterLab');
    document.head.querySelector('title')?.replaceChildren('third');
    expect(await settledTitle()).toBe('(2) third');
    document.title = '';
    expect(await settledTitle()).toBe('(2)');
    document.title = 'fourth';
    count.clear();
    expect(await settledTitle()).toBe('fourth');
  });
});
