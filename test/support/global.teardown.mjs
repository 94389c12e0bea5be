export default async function teardown() {
  await globalThis.signalboxTestStack?.remove();
}
