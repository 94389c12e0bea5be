/**
 * Frames of a stack trace in the sandbox. The worker takes one for each promise of a workflow and looks every frame up in the source map,
 * which is half of what a payment's workflow computes with the 10 frames of V8.
 */
Error.stackTraceLimit = 4;
