/** The `code` of ClipFailed and SwapFailed where the client called the job off: no work on it goes on. */
export const cancelledCode = 'CANCELLED';
