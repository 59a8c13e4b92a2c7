"""The answers of the HTTP API as typed dictionaries: return types of the client, and schemas in the API's
description.
"""
