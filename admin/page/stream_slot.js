// Which windows of a browser hold the stream of events.
//
// - A browser has six connections to a host, for all its windows. A stream takes one as long as it is open: with six of them
//   no window could call the API. So there are STREAMS_MAX slots, which are locks of the browser.
// - Without locks, which a browser has for https and for this machine only, each window has its stream.

const STREAMS_MAX = 5;
const NAMES = Array.from({ length: STREAMS_MAX }, (_, number) => `fauxka-stream-${number}`);

/**
 * Return a promise of a function that releases the slot, or of null if the signal ended the wait.
 * onWait(): called if other windows have all slots.
 */
export async function takeSlot(signal, onWait) {
  const { locks } = navigator;
  if (locks === undefined) return () => {};
  const chosen = new AbortController();
  const taken = new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      chosen.abort();
      resolve(null);
    });
    // All are asked for, because any of them may become free first.
    for (const name of NAMES) {
      locks
        .request(name, { signal: chosen.signal }, () => {
          // Another one was granted at the same time, or the window no longer waits.
          if (chosen.signal.aborted) return undefined;
          chosen.abort();
          return new Promise((release) => resolve(release));
        })
        .catch(() => {});
    }
  });
  // Locks that are free are granted before this is known.
  await locks.query();
  if (!chosen.signal.aborted) onWait();
  return taken;
}
