/**
 * The event with which a row of a batch's table requests the result of its job; `assets/table_rows.js` dispatches it.
 */
import type { JobRef, ResultResponse } from './api/responses';
import { messageOf } from './models/formatting/text';
import type { Trans } from './models/translation';

/** Name of the event. */
export const OPEN_JOB = 'fn-open-job';

/** The request, and how to respond to it. */
export interface RowRequest {
  readonly job: string;
  /** Name of the profile of the job's service; null if the table does not know it. */
  readonly profile: string | null;
  readonly show: (html: string) => void;
  readonly fail: (sentence: string) => void;
}

/** Source of rendered results. */
export interface RenderedResults {
  readResult(jobRef: JobRef): Promise<ResultResponse>;
}

/**
 * Responds to the event with the rendered result, unless it was handled before or the place of the job is unknown.
 *
 * @param findJobRef - the place of a job, given its name and profile; null if unknown
 */
export function handleRowRequest(
  event: Event,
  results: RenderedResults,
  trans: Trans,
  findJobRef: (job: string, profile: string | null) => JobRef | null
): void {
  const request = event instanceof CustomEvent ? readRequest(event.detail) : null;
  const jobRef = request && findJobRef(request.job, request.profile);
  if (!request || !jobRef || event.defaultPrevented) {
    return;
  }
  event.preventDefault(); // tells the table that a response follows
  results.readResult(jobRef).then(
    ({ html }) => request.show(html),
    (error: unknown) => request.fail(trans.__('The result cannot be shown: %1', messageOf(error)))
  );
}

function readRequest(detail: unknown): RowRequest | null {
  if (typeof detail !== 'object' || detail === null || !('job' in detail) || !('show' in detail)) {
    return null;
  }
  return detail as RowRequest;
}
