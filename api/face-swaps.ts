/** Whether paid face swaps can be made: `not-yet` refuses them with 501 after every other check. */
export type FaceSwaps = 'available' | 'not-yet';

/** What this version's workers can do. The one place that decides it. */
export const FACE_SWAPS: FaceSwaps = 'not-yet';
