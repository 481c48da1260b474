/**
 * The routes for links with which colleagues open a job. A link is sent in the body, so that its token appears in no
 * log.
 */
import type { JobRef, ResultResponse, SharedResponse, ShareRecord, SharesResponse } from './responses';
import type { LabApi } from './lab';

/** Lists the account's valid links to a job. */
export async function listShares({ requests }: LabApi, jobRef: JobRef): Promise<readonly ShareRecord[]> {
  return (await requests.get<SharesResponse>(sharesOf(jobRef), jobQuery(jobRef))).shares;
}

/** Makes a link that is valid for `days`; only this response has its address. */
export function makeShare({ requests }: LabApi, jobRef: JobRef, days: number): Promise<ShareRecord> {
  return requests.post(sharesOf(jobRef), { days }, jobQuery(jobRef));
}

/** Revokes the link of this name, and returns the confirmation for the user. */
export async function revokeShare({ requests }: LabApi, jobRef: JobRef, name: string): Promise<string> {
  const response = await requests.send(`shares/${encodeURIComponent(name)}`, jobQuery(jobRef), { method: 'DELETE' });
  return ((await response.json()) as { readonly message: string }).message;
}

/** Opens a colleague's link, with the key of the profile that has its address. */
export function openLink({ colors, requests }: LabApi, url: string): Promise<SharedResponse> {
  return requests.post('shared', { url }, { colors });
}

/** Opens the link with this mark again, for a tab that is restored. */
export function openMarked({ colors, requests }: LabApi, mark: string): Promise<SharedResponse> {
  return requests.post('shared', { mark }, { colors });
}

/** Gets the rendered result of one job of a colleague's batch. */
export function openLinkedRow({ colors, requests }: LabApi, url: string, row: string): Promise<ResultResponse> {
  return requests.post('shared', { url, row }, { colors });
}

/** Gets the result archive of a colleague's link, or one file of it. */
export async function fetchLinked({ requests }: LabApi, url: string, file: string | null): Promise<Blob> {
  const body = JSON.stringify({ url, file });
  return (await requests.send('shared/result', {}, { method: 'POST', body })).blob();
}

function sharesOf({ job }: JobRef): string {
  return `jobs/${encodeURIComponent(job)}/shares`;
}

function jobQuery({ profile }: JobRef): { readonly profile?: string } {
  return profile === null ? {} : { profile };
}
