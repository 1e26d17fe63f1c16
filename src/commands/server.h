/*
 * A server of one page over HTTP/1.1, for the browsers of this machine. It listens only on the
 * loopback interface, and answers only GET of "/". The connection ends with the answer. A client
 * that is slow, sends too much or breaks off loses its connection and delays no other client.
 */
#ifndef ORRERY_COMMANDS_SERVER_H
#define ORRERY_COMMANDS_SERVER_H

#include <stdbool.h>

#include "base/status.h"

struct server;

/* Creates a server that listens at a port of 127.0.0.1; 0 takes a free port. Until server_close(),
 * SIGINT, SIGTERM and SIGHUP are held back for server_wait(). STATUS_UNAVAILABLE (the port cannot
 * be used), STATUS_MEMORY. */
enum status server_open(int port, struct server **server, struct error *error);

int server_port(const struct server *server);

/* Serve from now on the HTML text `html`, or the page in the file `path` without the addresses of
 * its links; answers that have begun go on with the page before. Browsers ask again after `refresh`
 * seconds, never if it is 0. STATUS_MEMORY, and the errors of document_read_text(). */
enum status server_put_words(struct server *server, const char *html, int refresh,
                             struct error *error);
enum status server_put_file(struct server *server, const char *path, int refresh,
                            struct error *error);

/* Answers clients for `seconds` seconds and returns false; returns true as soon as a signal asks to
 * end. */
bool server_wait(struct server *server, double seconds);

/* Closes the server; accepts NULL. Signals that were held back are dropped. */
void server_close(struct server *server);

#endif
