/** The published enumeration has no name for the simulator; it goes by the published dummy name. */
export function publishedProcessorName(kind: string): string {
  return kind === 'simulator' ? 'foobar' : kind;
}
